"""Searching sessions for words: what was asked, answered, called and found, not how it is stored.

Files are scanned as text first, and only lines that have the words are looked at closely. Caps keep a large
shelf from taking for ever; whoever waits may stop at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tui_agent import paths
from tui_agent.agent import AgentEvent, TextContent, ToolCall
from tui_agent.session.entries import Entry, decode
from tui_agent.session.store import FILE

SECONDS = 5.0
LARGEST = 64_000_000
"""Bytes of a session that are searched."""
AROUND = 40
"""Characters before a hit that are shown with it."""
SHOWN = 160


def search(
    places: Iterable[Path], words: str, stopped: Callable[[], bool] = lambda: False
) -> dict[Path, str]:
    """The sessions that have `words` somewhere, each with the text around its first hit."""
    needle, until = words.casefold().strip(), time.monotonic() + SECONDS
    found: dict[Path, str] = {}
    for place in places:
        if stopped() or time.monotonic() > until:
            break
        hit = _hit(place, needle)
        if hit is not None:
            found[place] = hit
    return found


def _hit(place: Path, needle: str) -> str | None:
    try:
        data = paths.read_small(place / FILE, LARGEST)
    except OSError:
        return None
    # The longest word that JSON writes as it is tells most lines apart without reading them.
    plain = max((w for w in needle.split() if w.isascii() and w.isalnum()), key=len, default="").encode()
    if plain not in data.lower():
        return None
    for line in data.split(b"\n"):
        if plain not in line.lower():
            continue
        for part in decode(line):
            if isinstance(part, Entry) and part.event is not None:
                for text in _texts(part.event):
                    at = text.casefold().find(needle)
                    if at >= 0:
                        return _around(text, at)
    return None


def _texts(event: AgentEvent) -> Iterator[str]:
    match event.type:
        case "turn_started":
            yield from (block.text for block in event.prompt if isinstance(block, TextContent))
        case "note_added":
            yield from (block.text for block in event.content if isinstance(block, TextContent))
        case "assistant_message_done":
            for block in event.message.content:
                if isinstance(block, TextContent):
                    yield block.text
                elif isinstance(block, ToolCall):
                    yield from (value for value in block.arguments.values() if isinstance(value, str))
        case "tool_call_finished":
            yield event.result.text
        case "file_changed":
            yield event.path
        case "compacted":
            yield event.summary


def _around(text: str, at: int) -> str:
    start = max(0, at - AROUND)
    cut = " ".join(text[start : start + SHOWN].split())
    return f"…{cut}" if start else cut
