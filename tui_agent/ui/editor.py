"""The person's own editor: `$VISUAL`, else `$EDITOR`, on a private copy, with the program out of its way."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

from tui_agent.text import visible


class EditorError(Exception):
    """Why nothing came of it, for the person."""


LARGEST = 500_000
"""Characters that the program's own text field takes."""


@dataclass(frozen=True)
class Editable:
    """Bytes as text for the program's own text field, which knows one kind of line end and hides controls."""

    plain: str
    encoding: str
    returns: bool

    @classmethod
    def of(cls, data: bytes, encoding: str) -> Editable:
        text = data.decode(encoding)
        plain = text.replace("\r\n", "\n")
        returns = plain != text
        exact = not returns or plain.replace("\n", "\r\n") == text
        if not exact or visible(plain) != plain or len(plain) > LARGEST:
            raise EditorError("editing it here would change more than you type: set $VISUAL or $EDITOR")
        return cls(plain, encoding, returns)

    def data(self, edited: str) -> bytes:
        try:
            return (edited.replace("\n", "\r\n") if self.returns else edited).encode(self.encoding)
        except UnicodeEncodeError as error:
            raise EditorError(f"The file's encoding has no {error.object[error.start]!r}.") from None


def editor_command(environ: Mapping[str, str]) -> list[str]:
    """The words of the editor's command; none if there is no editor."""
    wish = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        return shlex.split(wish)
    except ValueError as error:
        raise EditorError(f"$VISUAL or $EDITOR can't be read as a command: {error}") from None


def edit_outside(app: App[Any], command: list[str], data: bytes, name: str) -> bytes:
    """`data` as it was saved. The event loop waits meanwhile, since the terminal belongs to the editor."""
    with tempfile.TemporaryDirectory(prefix="tui-agent-") as folder:
        path = Path(folder, os.path.basename(name) or "text")
        path.write_bytes(data)
        try:
            with app.suspend(), _without_ctrl_c():
                code = subprocess.run([*command, str(path)], check=False).returncode
        except SuspendNotSupported:
            raise EditorError("this terminal can't be handed to another program") from None
        except OSError as error:
            raise EditorError(f"{command[0]} could not be started: {error.strerror}") from None
        if code:
            raise EditorError(f"{command[0]} ended with {code}; nothing was changed")
        try:
            return path.read_bytes()
        except OSError:
            raise EditorError("the edited file is gone; nothing was changed") from None


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Ctrl+C in the editor is the editor's, though the terminal sends it to us as well.

    The loop, which waits, would learn of it afterwards and end the program. Other signals it still learns of.
    """
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(writer)
        with open(reader, "rb") as came:
            numbers = set(came.read()) - {signal.SIGINT, signal.SIGQUIT}
        for number in numbers:
            signal.raise_signal(number)
