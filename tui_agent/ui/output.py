"""The terminal to write to, in the characters that it knows.

Nearly all terminals read UTF-8, whatever Python makes of the locale. Where the locale names another
character set (`LC_ALL=C` is ASCII), lines, marks and quotes become their nearest in ASCII, cell for cell, so
that nothing moves; other characters that the set lacks are question marks.
"""

from __future__ import annotations

import codecs
import io
import os
import select
from collections.abc import Mapping

from tui_agent.text import width_of

_LINES = {
    "─━╌┄–—−": "-",
    "│┃┆": "|",
    "┌┐└┘├┤┬┴┼╭╮╰╯╋": "+",
    "▌▎▏█▐": "|",
    "▁▂▔": "_",
    "›▸▶→❯": ">",
    "‹◂←": "<",
    "↓▾▼": "v",
    "↑▴▲": "^",
    "✓": "v",
    "✗✘×": "x",
    "■●•◆": "*",
    "·⋯…": ".",
    "“”": '"',
    "‘’": "'",
    "⸨": "(",
    "⸩": ")",
    "↵": "$",
}
_NEAREST = {character: near for characters, near in _LINES.items() for character in characters}


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_NEAREST.get(c, "?" * width_of(c)) for c in lacking), error.end


codecs.register_error("tui_agent_nearest", _nearest)


def character_set(environ: Mapping[str, str]) -> str:
    """What the locale says that the terminal reads: UTF-8 unless it names something else."""
    locale = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "")
    if locale in ("C", "POSIX"):
        return "ascii"
    named = locale.partition(".")[2].partition("@")[0]
    try:
        return codecs.lookup(named).name if named else "utf-8"
    except LookupError:
        return "utf-8"


class Output(io.TextIOBase):
    """A descriptor of its own. Once the terminal is gone, what is written is dropped: the writer thread must
    not die of it, since the app would wait for it."""

    def __init__(self, fd: int, characters: str = "utf-8") -> None:
        self._fd = fd
        self._gone = False
        self._characters = characters
        self._lacking = "replace" if characters == "utf-8" else "tui_agent_nearest"

    def write(self, text: str) -> int:
        data = memoryview(text.encode(self._characters, self._lacking))
        while data and not self._gone:
            try:
                data = data[os.write(self._fd, data) :]
            except BlockingIOError:
                select.select([], [self._fd], [])
            except OSError:
                self._gone = True
        return len(text)

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return os.isatty(self._fd)

    def close(self) -> None:
        if not self.closed:
            os.close(self._fd)
        super().close()
