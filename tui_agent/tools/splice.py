"""An edit as a splice of bytes.

The file is never decoded and encoded again: what is searched for becomes bytes of the file's own encoding,
and everything outside the places found stays as it is. A line end in `old` matches the line end that the
file has there; line ends in `new` become those of the place they go to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from itertools import islice

from tui_agent.agent.errors import ToolError
from tui_agent.text import plural
from tui_agent.tools.lines import BINARY, encoding_of, has_mark
from tui_agent.tools.nearest import nearest
from tui_agent.tools.trouble import shown

_COUNTED = 1_000
_LISTED = 10
_LINE_END = re.compile("\r\n|\n")
_SOFT_END = re.compile("(?<!\r)\n")


@dataclass(frozen=True)
class Spliced:
    data: bytes
    places: int
    line: int
    """Of the first place."""


def splice(path: str, data: bytes, old: str, new: str, *, replace_all: bool) -> Spliced:
    """`data` with `old` replaced by `new`, at its one place or, with `replace_all`, at each."""
    if not old:
        raise ToolError(
            "`old` is empty. Give the exact text to replace; to create or fill a file use write_file."
        )
    text = Text(path, data)
    if text.marked:  # it stays where it is, whether the model writes it or not
        old, new = old.removeprefix("\ufeff") or old, new.removeprefix("\ufeff")
    if old == new:
        raise ToolError("`old` and `new` are the same, so nothing would change. Send the text you want.")
    matches, loose = text.find(old)
    if not matches:
        raise ToolError(_not_found(text, old))
    if len(matches) > 1 and not replace_all:
        raise ToolError(_several(text, matches))
    if loose:
        new = new.replace("\r\n", "\n")
    parts, end, places = [], 0, 0
    for match in text.find_all(old, loose) if replace_all else matches:
        if match.start() >= end:
            parts += [data[end : match.start()], text.fitting(match, new)]
            end, places = match.end(), places + 1
    after = b"".join((*parts, data[end:]))
    if after == data:
        raise ToolError(
            f"Nothing would change: {shown(path)} holds the text of `new` there already (its line ends are "
            f"{text.styles[0]!r})."
        )
    return Spliced(after, places, text.line_of(matches[0].start()))


class Text:
    """The bytes of a text file, searched in their own encoding."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.encoding = encoding_of(data)
        if self.encoding == BINARY:
            raise ToolError(
                f"{shown(path)} is not text (or its encoding is broken), so no edit of it would be exact; "
                "it is untouched. Use run_command with a tool for its format."
            )
        feed, back = "\n".encode(self.encoding), "\r".encode(self.encoding)
        self.unit = len(feed)
        self.marked = self.encoding != "latin-1" and has_mark(data)
        self.start = len("\ufeff".encode(self.encoding)) if self.marked else 0
        self.only_returns = "\n" not in self.decoded and "\r" in self.decoded
        self.line_end = re.compile(re.escape(back) if self.only_returns else _either(feed, back))

    @cached_property
    def styles(self) -> tuple[str, ...]:
        """The kinds of line ends in the file, that of its first line first; LF if no line ends."""
        if self.only_returns:
            return ("\r",)
        text = self.decoded
        returned = text.count("\r\n")
        if returned in (0, text.count("\n")):
            return ("\r\n",) if returned else ("\n",)
        return ("\r\n", "\n") if text[: text.index("\n")].endswith("\r") else ("\n", "\r\n")

    @cached_property
    def decoded(self) -> str:
        return self.data[self.start :].decode(self.encoding)

    def find(self, old: str) -> tuple[list[re.Match[bytes]], bool]:
        """Up to `_COUNTED` matches, overlapping ones too, and whether CRLF in `old` had to be read as LF."""
        matches = list(islice(self.find_all(old, False), _COUNTED))
        if matches or "\r\n" not in old:
            return matches, False
        return list(islice(self.find_all(old, True), _COUNTED)), True

    def find_all(self, old: str, loose: bool) -> Iterator[re.Match[bytes]]:
        parts = re.split("(\r\n|\n)", old)
        try:
            pattern = b"".join(
                self.line_end.pattern
                if part == "\n" or (part == "\r\n" and loose)
                else re.escape(part.encode(self.encoding))
                for part in parts
            )
        except UnicodeEncodeError:  # what the encoding can't hold, the file doesn't hold
            return iter(())
        return self._aligned(re.compile(pattern), self.start)

    def _aligned(self, pattern: re.Pattern[bytes], at: int) -> Iterator[re.Match[bytes]]:
        while match := pattern.search(self.data, at):
            if match.start() % self.unit == 0 or self.unit == 1:
                yield match
            at = match.start() + 1

    def _ends(self, at: int) -> Iterator[str]:
        return (match[0].decode(self.encoding) for match in self._aligned(self.line_end, at))

    def line_of(self, offset: int) -> int:
        end = "\r" if self.only_returns else "\n"
        return self.data[self.start : offset].decode(self.encoding, "replace").count(end) + 1

    def fitting(self, match: re.Match[bytes], new: str) -> bytes:
        """`new` as bytes for this place, with the line ends that are there."""
        replaced = match[0].decode(self.encoding)
        ends = _LINE_END.findall(replaced) if len(self.styles) > 1 else []
        if len(set(ends)) > 1:
            fitted = _with_ends_of(replaced, new, max(dict.fromkeys(ends), key=ends.count))
        else:
            near = self._ends(match.end()) if len(self.styles) > 1 else iter(())
            style = ends[0] if ends else next(near, self.styles[0])
            fitted = _SOFT_END.sub(lambda _: style, new)
        try:
            return fitted.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise ToolError(
                f"{shown(self.path)} is {self.encoding}, which can't hold {fitted[error.start]!r}; it is "
                "untouched. Use other characters, or ask the user whether to convert the file to UTF-8."
            ) from None


def _either(feed: bytes, back: bytes) -> bytes:
    feed, back = re.escape(feed), re.escape(back)
    return b"(?:" + back + feed + b"|(?<!" + back + b")" + feed + b")"


def _with_ends_of(replaced: str, new: str, style: str) -> str:
    """`new` with the old line end on each line that stays, where the place has several kinds of them."""
    was, becomes = _lines(replaced), _lines(new)
    ends = [style if end == "\n" else end for _, end in becomes]
    same = SequenceMatcher(None, [line for line, _ in was], [line for line, _ in becomes], autojunk=False)
    for block in same.get_matching_blocks():
        for step in range(block.size):
            if ends[block.b + step]:
                ends[block.b + step] = was[block.a + step][1] or style
    return "".join(line + end for (line, _), end in zip(becomes, ends, strict=True))


def _lines(text: str) -> list[tuple[str, str]]:
    """Lines with their ends apart; the last has none."""
    parts = re.split("(\r\n|\n)", text)
    return list(zip(parts[::2], [*parts[1::2], ""], strict=True))


def _several(text: Text, matches: list[re.Match[bytes]]) -> str:
    lines = ", ".join(str(text.line_of(match.start())) for match in matches[:_LISTED])
    more = ", …" if len(matches) > _LISTED else ""
    number = f"at least {_COUNTED:,}" if len(matches) == _COUNTED else str(len(matches))
    return (
        f"`old` matches {number} places in {shown(text.path)} (lines {lines}{more}); nothing was changed. "
        "Add neighbouring lines until it is unique, or set replace_all to change every place."
    )


def _not_found(text: Text, old: str) -> str:
    decoded = text.decoded.replace("\r", "\n") if text.only_returns else text.decoded
    found = nearest(decoded, old)
    if not decoded:
        return f"{shown(text.path)} is empty, so `old` can't be in it. Use write_file to fill it."
    lines = plural(decoded.count("\n") + (not decoded.endswith("\n")), "line")
    return f"`old` is not in {shown(text.path)} ({lines}); nothing was changed. {found}"
