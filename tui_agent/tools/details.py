"""What tools tell the eye and the session, beside what they tell the model.

Panes and screens choose their drawing by the type of these records. A session stores them as JSON and
gives them back through `revive`; the bytes of a file live in memory only, the session keeps before-images
by their hash.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, Field

from tui_agent.agent.messages import Record

NOT_READ = "not read before"
"""A fact of a change that replaces content which the model has not seen: a person must see the diff."""


def digest(data: bytes | None) -> str | None:
    """SHA-256 as hex, None for a file that isn't there."""
    return None if data is None else hashlib.sha256(data).hexdigest()


class FileChange(Record):
    """One file before and after. What the review shows is exactly `before` → `after`.

    `path` is relative to the working folder, real (links resolved). `before` is None for a new file,
    `after` is None for a deletion (only undo makes one). `diff` is the unified diff as text, for replay;
    it may be shortened, the bytes are not. `facts` are short words for the header (new, emptied, CRLF,
    no newline at end, written in place, mode 0755 …).
    """

    type: Literal["file_change"] = "file_change"
    path: str
    before: bytes | None = Field(default=None, exclude=True, repr=False)
    after: bytes | None = Field(default=None, exclude=True, repr=False)
    before_hash: str | None = None
    after_hash: str | None = None
    diff: str = ""
    added: int = 0
    removed: int = 0
    facts: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Two changes with one fingerprint look the same to the person who approves."""
        return f"{self.path}\n{self.facts}\n{self.diff}\n{self.after_hash if not self.diff else ''}"


class Command(Record):
    """A command before it runs: exactly this text, by `bash -c`, in this folder.

    `sandbox` says in words what holds it, "" if nothing does.
    """

    type: Literal["command"] = "command"
    command: str
    folder: str
    timeout: float
    background: bool = False
    sandbox: str = ""


class CommandResult(Record):
    """How a command ended. `output` is what the model got; `spill` a file with all of it, if it was long."""

    type: Literal["command_result"] = "command_result"
    command: str
    output: str = ""
    exit_code: int | None = None
    ended: str = ""
    seconds: float = 0.0
    spill: str | None = None
    job: str | None = None


class FileRead(Record):
    """A page of a file, or a listing or search that looked at `path`."""

    type: Literal["file_read"] = "file_read"
    path: str
    hash: str | None = None
    lines: int = 0
    summary: str = ""


_TYPES: dict[str, type[BaseModel]] = {
    "file_change": FileChange,
    "command": Command,
    "command_result": CommandResult,
    "file_read": FileRead,
}


def revive(details: BaseModel | dict[str, Any] | None) -> BaseModel | None:
    """Details as a session gave them back, typed again. Unknown ones give None."""
    if not isinstance(details, dict):
        return details
    kind = _TYPES.get(str(details.get("type")))
    return None if kind is None else kind.model_validate(details)
