"""Text that was not found: where something like it stands, and what the difference is.

Nothing is matched tolerantly here; the model gets the lines as they are and sends them again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher

from tui_agent.tools.clean import to_model
from tui_agent.tools.truncate import clip_line

_LINES = 20_000
"""Lines that are compared in their plain form; a twentieth of them by likeness, which is slow."""
_WIDTH = 300
_SHOWN = 3
_LIKENESS = 0.6
_PLAIN = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—―−\u00a0", '\'\'\'\'""""""------- ')
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def nearest(text: str, old: str) -> str:
    """A few lines for the error message; always with what to do next."""
    have = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    want = [line.removesuffix("\r") for line in old.split("\n")]
    start = _best_start(have, want)
    if start is None:
        return "Nothing similar is there. Read the file again and copy the text exactly."
    rows = []
    for index, line in enumerate(want):
        at = start + index
        there = have[at] if 0 <= at < len(have) else None
        if there is None and line:
            rows.append(f"  `old` goes on after the end of the file: {_drawn(line)}")
        elif there is None:
            rows += [] if text.endswith("\n") else ["  the file has no newline at its end, `old` has one"]
        elif not _fits(there, line, index == 0, index == len(want) - 1):
            rows += [f"  line {at + 1}: {_drawn(there)}", f"  `old`{' ' * len(str(at + 1))} : {_drawn(line)}"]
            difference = _difference(there, line)
            if difference:
                rows.append(f"    {difference}")
        if len(rows) >= 3 * _SHOWN:
            break
    if not rows:
        return "Its lines are there, but not next to each other. Read that part again and copy it exactly."
    return (
        "The nearest text (→ is a tab, · a blank):\n"
        + "\n".join(rows)
        + "\nCopy it exactly and send it again."
    )


def _fits(there: str, line: str, first: bool, last: bool) -> bool:
    """The first line of `old` may start, and the last may end, in the middle of a line."""
    if first and last:
        return line in there
    if first:
        return there.endswith(line)
    return there.startswith(line) if last else there == line


def _best_start(have: Sequence[str], want: Sequence[str]) -> int | None:
    """The line of the file at which `want` fits best."""
    plain = [_plain(line) for line in have[:_LINES]]
    wanted = [_plain(line) for line in want]
    anchor = max(range(len(want)), key=lambda index: len(wanted[index]))
    if not wanted[anchor]:
        return None
    places = [index for index, line in enumerate(plain) if wanted[anchor] in line]
    if not places:
        scores = {i: _likeness(line, wanted[anchor]) for i, line in enumerate(plain[: _LINES // 20]) if line}
        best = max(scores, key=lambda index: scores[index], default=None)
        places = [] if best is None or scores[best] < _LIKENESS else [best]
    if not places:
        return None

    def agreement(place: int) -> int:
        pairs = ((place - anchor + index, line) for index, line in enumerate(wanted[:200]))
        return sum(1 for at, line in pairs if 0 <= at < len(plain) and plain[at] == line)

    return max(places[:200], key=agreement) - anchor


def _likeness(one: str, other: str) -> float:
    matcher = SequenceMatcher(None, one[:_WIDTH], other[:_WIDTH], autojunk=False)
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < _LIKENESS:
        return 0.0
    return matcher.ratio()


def _plain(line: str) -> str:
    """The line without what the eye overlooks: blanks, quotes, dashes, case, invisible characters."""
    line = _HIDDEN.sub("", unicodedata.normalize("NFKC", line[:2000].translate(_PLAIN)))
    return " ".join(line.casefold().split())


def _drawn(line: str) -> str:
    body = line.strip(" \t")
    left = line[: len(line) - len(line.lstrip(" \t"))] if body else line
    right = line[len(left) + len(body) :]
    blanks = str.maketrans(" ", "·")
    return clip_line(
        to_model(left.translate(blanks) + body + right.translate(blanks)).replace("\t", "→"), _WIDTH
    )


def _difference(there: str, line: str) -> str:
    """The one thing that makes two lines differ, if it is one that hides."""
    if "\t" in there and "\t" not in line and there.split() == line.split():
        return "the file has tabs here, `old` has spaces"
    if "\t" in line and "\t" not in there and there.split() == line.split():
        return "the file has spaces here, `old` has tabs"
    if there.rstrip() == line.rstrip():
        return "the blanks at the end of the line differ"
    if there.split() == line.split():
        return "the number of blanks differs"
    if unicodedata.normalize("NFC", there) == unicodedata.normalize("NFC", line):
        return "the same letters, but composed differently (Unicode NFC and NFD)"
    if there.casefold() == line.casefold():
        return "upper and lower case differ"
    if _plain(there) == _plain(line):
        odd = next((pair for pair in zip(there, line, strict=False) if pair[0] != pair[1]), ("", ""))
        if all(odd):
            return f"the file has {_named(odd[0])}, `old` has {_named(odd[1])}"
    return ""


def _named(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, '')}".strip()
