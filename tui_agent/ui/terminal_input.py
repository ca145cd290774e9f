"""What a terminal sends, as events: whole keys, whole pastes, and nothing else ever becomes text.

Textual's parser types what it doesn't know (replies, halves of mouse reports), takes the text of a paste
for keys when there is an escape in it, and ends the app on some reports. Here input is first cut into
units: text, one escape sequence, one paste. A unit that is complete and known becomes an event through
Textual's tables; one that is not is dropped. What is incomplete waits for its rest: a lone escape for
`ESCAPE_DELAY`, what can only be a report much longer.

Text that comes in one piece with a line end inside is a paste by a terminal that doesn't bracket it: no line
of it may be sent, or answer a question.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator

from textual import events, messages
from textual._xterm_parser import XTermParser
from textual.message import Message

from tui_agent.ui.key_reports import key_report
from tui_agent.ui.messages import BackgroundTold

ESCAPE_DELAY = float(os.environ.get("ESCDELAY") or 28) / 1000
"""Seconds after which an escape that stands alone is the key; slow links want more."""
HALF = 0.2
"""Seconds for the rest of ESC [ and its kin, which may also be Alt and a key."""
REPORT = 1.0
"""Seconds for the rest of what can only be a report."""
PASTE_QUIET = 1.0
"""Seconds of quiet after which a paste that lost its end is over."""
BURST = 0.05
"""Seconds within which text goes on belonging to an unbracketed paste."""
ORPHAN = 0.1
"""Seconds in which the rest of a sequence is dropped whose escape was taken for the key."""
LONGEST = 65_536
"""Characters of a report; a longer one is no report."""

_START, _END = "\x1b[200~", "\x1b[201~"
_CSI = re.compile(r"\x1b\[(?:\[[A-E]|\d{1,2}\$|M[\s\S]{3}|(?![\[M])[0-?]*[ -/]*[@-~])")
_CSI_PART = re.compile(r"\x1b\[(?:\[|M[\s\S]{0,2}|[0-?]*[ -/]*)\Z")
_STRING = re.compile(r"\x1b[\]PX^_][^\x1b\x07\x18\x1a]*(?:\x07|\x1b\\|[\x18\x1a])")
_STRING_PART = re.compile(r"\x1b[\]PX^_][^\x1b\x07\x18\x1a]*\x1b?\Z")
_TAIL = re.compile(r"[\[O][0-9;:]*[A-Za-z~]")
_NOISE = re.compile(r"\x1b\[<[\d;]+[mM]|\x1b\[[IO]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RESIZE = re.compile(r"\x1b\[48;(\d+)(?::\d*)*;(\d+)(?::\d*)*;(\d+)(?::\d*)*;(\d+)(?::\d*)*t")
_POSITION = re.compile(r"\x1b\[(\d+);(\d+)R")
_BACKGROUND = re.compile(r"\x1b\]11;rgba?:([\da-f]{1,4})/([\da-f]{1,4})/([\da-f]{1,4})", re.IGNORECASE)
_MODE = re.compile(r"\x1b\[\?(\d+);(\d+)\$y")


class TerminalInput(XTermParser):
    """`feed` text as it is read and `tick` when `deadline` has come; both give the events that are due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._part = ""
        self._paste: str | None = None
        self._burst_until = 0.0
        self._early = False
        self._escaped_at = float("-inf")
        self.deadline: float | None = None

    def feed(self, data: str) -> Iterable[Message]:
        now = self._clock()
        data, self._part = self._part + data, ""
        self.deadline = None
        if now - self._escaped_at <= ORPHAN and (tail := _TAIL.match(data)):
            data = data[tail.end() :]
        self._escaped_at = float("-inf")
        while data:
            if self._paste is not None:
                data, pasted = self._in_paste(data, now)
                yield from pasted
            elif data[0] != "\x1b":
                text, escape, rest = data.partition("\x1b")
                data = escape + rest
                yield from self._text(text, now)
            else:
                length, patience = _unit(data)
                if length == 0:
                    self._part, self.deadline = data, now + patience
                    return
                unit, data = data[:length], data[length:]
                yield from self._guarded(unit)

    def tick(self) -> Iterable[Message]:
        now = self._clock()
        if self.deadline is None or now < self.deadline:
            return
        self.deadline = None
        if self._paste is not None:
            pasted, self._paste = self._paste, None
            yield from _pasted(pasted)
            return
        part, self._part = self._part, ""
        if part == "\x1b":
            self._escaped_at = now
            yield events.Key("escape", "\x1b")
        elif len(part) == 2:
            yield from self._alt(part[1])

    def feed_early(self, data: str) -> Iterable[Message]:
        """What was typed before there was a program to read it: text for the prompt, never sent."""
        self._early = True
        yield from self.feed(data)
        self._early = False

    # Units -------------------------------------------------------------------------------------------

    def _text(self, text: str, now: float) -> Iterator[Message]:
        if self._early:
            yield from _pasted(text.rstrip("\r\n"))
            return
        line_end = re.search(r"[\r\n]", text)
        if now < self._burst_until or (line_end and text[line_end.end() :].strip("\r\n")):
            self._burst_until = now + BURST
            yield from _pasted(text)
            return
        for character in text:
            if not "\x80" <= character <= "\x9f":
                yield from self._sequence_to_key_events(character)

    def _in_paste(self, data: str, now: float) -> tuple[str, list[Message]]:
        assert self._paste is not None
        whole = self._paste + data
        end = whole.find(_END, max(0, len(self._paste) - len(_END)))
        if end < 0:
            self._paste, self.deadline = whole, now + PASTE_QUIET
            return "", []
        self._paste = None
        return whole[end + len(_END) :], list(_pasted(whole[:end]))

    def _guarded(self, unit: str) -> list[Message]:
        """No bytes, whatever they are, may end the program."""
        try:
            return list(self._sequence(unit))
        except Exception:
            return []

    def _sequence(self, unit: str) -> Iterator[Message]:
        if unit == "\x1b":
            yield events.Key("escape", "\x1b")
        elif unit == _START:
            self._paste = ""
        elif unit in ("\x1b\r", "\x1b\n"):
            yield events.Key("alt+enter", None)
        elif unit.startswith("\x1b["):
            yield from self._csi(unit)
        elif unit.startswith("\x1bO"):
            yield from self._known_keys(unit)
        elif match := _BACKGROUND.match(unit):
            red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in match.groups())
            yield BackgroundTold(dark=0.299 * red + 0.587 * green + 0.114 * blue < 0.5)
        elif len(unit) == 2:
            keys = list(self._known_keys(unit))
            yield from keys or self._alt(unit[1])

    def _csi(self, unit: str) -> Iterator[Message]:
        if unit == "\x1b[I":
            yield events.AppFocus()
        elif unit == "\x1b[O":
            yield events.AppBlur()
        elif match := _RESIZE.fullmatch(unit):
            height, width, pixel_height, pixel_width = map(int, match.groups())
            resize = events.Resize.from_dimensions((width, height), (pixel_width, pixel_height))
            self.terminal_size, self.terminal_pixel_size = resize.size, resize.pixel_size
            self.mouse_pixels = True
            yield resize
        elif match := _POSITION.fullmatch(unit):
            yield events.CursorPosition(int(match[2]) - 1, int(match[1]) - 1)
        elif match := _MODE.fullmatch(unit):
            yield from _mode(match[1], int(match[2]))
        elif unit.startswith("\x1b[<"):
            if (mouse := self.parse_mouse_code(unit)) is not None:
                yield mouse
        elif (key := key_report(unit)) is not None:
            yield from key
        else:
            yield from self._known_keys(unit)

    def _alt(self, character: str) -> Iterator[Message]:
        """Alt and a character: a key, not text."""
        for key in self._sequence_to_key_events(character, alt=True):
            yield events.Key(key.key if key.key.startswith("alt+") else f"alt+{key.key}", None)

    def _parse_extended_key(self, sequence: str) -> None:  # type: ignore[override]
        """Never: `key_report` knows these, and Textual would type the number of an unknown key."""

    def _known_keys(self, unit: str) -> Iterator[Message]:
        return (key for key in self._sequence_to_key_events(unit) if key.key != "<ignore>")


def _unit(data: str) -> tuple[int, float]:
    """How long the escape sequence at the beginning of `data` is; 0 and a patience if it isn't whole yet."""
    if data == "\x1b":
        return 0, ESCAPE_DELAY
    kind = data[1]
    if kind == "[":
        if match := _CSI.match(data):
            return match.end(), 0
        if _CSI_PART.match(data) and len(data) < LONGEST:
            return 0, REPORT if len(data) > 2 else HALF
        return _until_foreign(data), 0
    if kind == "O":
        if match := re.match(r"\x1bO[0-9;]*[@-~]", data):
            return match.end(), 0
        return (0, HALF) if re.fullmatch(r"\x1bO[0-9;]*", data) else (2, 0)
    if kind in "]PX^_":
        if match := _STRING.match(data):
            return match.end(), 0
        if _STRING_PART.match(data) and len(data) < LONGEST:
            return 0, REPORT if len(data) > 2 else HALF
        return _until_foreign(data), 0
    if kind < " " and kind not in "\b\t\n\r":  # who presses Escape and Ctrl+C at once means both
        return 1, 0
    return 2, 0


def _until_foreign(data: str) -> int:
    """A broken sequence ends before what can't belong to it."""
    match = re.match(r"\x1b[\[\]PX^_][^\x00-\x1f\x7f-\U0010ffff]*", data)
    return match.end() if match else 1


def _pasted(text: str) -> Iterator[Message]:
    """A paste without what no one meant to paste: reports that fell into it, and control characters."""
    text = _NOISE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    if text := _CONTROLS.sub("", text):
        yield events.Paste(text)


def _mode(mode: str, setting: int) -> Iterator[Message]:
    if mode == "2026" and setting > 0:
        yield messages.TerminalSupportsSynchronizedOutput()
