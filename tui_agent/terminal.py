"""The terminal as it was found: kept, and given back however the program ends.

Textual restores it on its own way out. This is for the other ways: what is undone twice does no harm.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

# Mouse reports, focus reports, bracketed paste, in-band resize, the kitty keyboard; cursor on, colours off.
_MODES_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1002, 1003, 1006, 1015, 1016, 1004, 2004, 2048))
_RESET = f"{_MODES_OFF}\x1b[<u\x1b[?25h\x1b[0m"
_MAIN_SCREEN = "\x1b[?1049l"


def problem() -> str | None:
    """Why a screen can't be shown here, with the next step; None if it can."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return "the screen needs a terminal. Without one, run one turn: tui-agent -p PROMPT"
    if (name := os.environ.get("TERM")) in ("dumb", "unknown"):
        return (
            f"this terminal (TERM={name}) can't show a screen. Set TERM to what it is, for example "
            "TERM=xterm-256color, or use it line by line: tui-agent --plain"
        )
    return None


def put(stream: TextIO, text: str) -> None:
    """All of it, whatever the locale: what can't be encoded is escaped."""
    stream.flush()
    data = text.encode(stream.encoding or "utf-8", "backslashreplace")
    stream.buffer.write(data)
    stream.buffer.flush()


@contextmanager
def kept() -> Iterator[None]:
    """Run the screen in here. Line settings are put back always, modes if it did not end in order."""
    import termios

    fd = sys.stdin.fileno()
    before = None
    with suppress(termios.error):
        before = termios.tcgetattr(fd)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            os.write(sys.stdout.fileno(), f"{_RESET}{_MAIN_SCREEN}".encode())
        raise
    finally:
        if before is not None:
            with suppress(termios.error):  # it may be gone: closed, or a connection lost
                termios.tcsetattr(fd, termios.TCSANOW, before)
