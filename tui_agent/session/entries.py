"""One line of a session file: a header, or a stored event with its time.

    {"at":1764509521.4,"session":{"id":"…","folder":"…","format":1}}
    {"at":1764509522.0,"event":{"type":"turn_started",…}}

Every record begins with the same bytes, and inside a JSON string those can't occur unescaped. So whatever a
crash made of a line (cut, joined with the next one, holed with NULs), the records in it are found again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from tui_agent.agent import AgentEvent
from tui_agent.agent.messages import Record

FORMAT = 1
_START = b'{"at":'


class Header(Record):
    """The first record. `folder` is the real path of the working folder."""

    id: str
    folder: str
    format: int = FORMAT
    forked_from: str | None = None


class Entry(Record):
    """A line. It holds a header or an event."""

    at: float
    session: Header | None = None
    event: Annotated[AgentEvent, Field(discriminator="type")] | None = None


@cache
def _adapter() -> TypeAdapter[Entry]:
    return TypeAdapter(Entry)


def encode(value: Header | AgentEvent) -> str:
    """The line for `value`, its newline included."""
    name = "session" if isinstance(value, Header) else "event"
    try:
        body = value.model_dump_json()
    except ValueError:  # a lone surrogate can't be UTF-8; as a JSON escape it can be kept
        body = json.dumps(value.model_dump(mode="json"), separators=(",", ":"))
    return f'{_START.decode()}{time.time():.3f},"{name}":{body}}}\n'


def decode(line: bytes) -> Iterator[Entry | bytes]:
    """The entries of a line, and the pieces in between that are none."""
    line = line.strip(b"\0 \t\r\n")
    if not line:
        return
    try:
        yield _adapter().validate_json(line)
        return
    except ValidationError:
        pass
    for piece in _pieces(line):
        entry = _entry(piece)
        yield piece if entry is None else entry


def _pieces(line: bytes) -> Iterator[bytes]:
    start = 0
    while start < len(line):
        following = line.find(_START, start + 1)
        end = len(line) if following < 0 else following
        piece = line[start:end].strip(b"\0 \t\r\n")
        if piece:
            yield piece
        start = end


def _entry(piece: bytes) -> Entry | None:
    try:
        value: Any = json.loads(piece)
        return _adapter().validate_python(value)
    except (ValueError, RecursionError):
        return None
