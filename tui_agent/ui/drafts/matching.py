"""Fuzzy matching of paths: which hold the letters of a query in their order, and which of them are meant.

A match is found greedily and drawn together from its end, so its cost is bounded by the length of the path,
whatever the letters. Letters at the start of words count, those in a row, and those of the file's name.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Sequence
from functools import cache

BEST = 200
"""Candidates that are looked at closely."""
_BREAKS = "/_-. "


def contains(query: str, text: str) -> bool:
    """Whether the letters of `query` are in `text`, in their order."""
    at = -1
    for letter in query:
        at = text.find(letter, at + 1)
        if at < 0:
            return False
    return True


def narrowed(query: str, lowered: Sequence[str], among: Sequence[int]) -> list[int]:
    """Those of the places `among` whose lower case text has the letters of `query`."""
    if len(query) == 1:
        return [place for place in among if query in lowered[place]]
    search = _pattern(query).search
    return [place for place in among if search(lowered[place])]


@cache
def _pattern(query: str) -> re.Pattern[str]:
    # Without backtracking: each letter is the next one of its kind.
    return re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in query), re.DOTALL)


def best(query: str, lowered: Sequence[str], among: Sequence[int], count: int) -> list[int]:
    """The places of the `count` best matches, best first."""
    likely = among
    if len(among) > BEST:
        whole = [place for place in among if query in lowered[place]]
        likely = whole if len(whole) >= count else among
        likely = heapq.nsmallest(BEST, likely, key=lambda place: _roughly(query, lowered[place]))
    return heapq.nsmallest(count, likely, key=lambda place: _rank(query, lowered[place]))


def _roughly(query: str, text: str) -> tuple[bool, bool, int]:
    name = text.rstrip("/").rfind("/") + 1
    found = text.rfind(query)
    return (found < name, found != name, len(text))


def _rank(query: str, text: str) -> tuple[float, int, str]:
    return (-score(text, letters(query, text)), len(text), text)


def letters(query: str, text: str) -> list[int]:
    """Where in `text` the letters of `query` are, close together; empty if they are not."""
    whole = text.rfind(query)
    if whole >= 0:
        return list(range(whole, whole + len(query)))
    end = -1
    for letter in query:
        end = text.find(letter, end + 1)
        if end < 0:
            return []
    found: list[int] = []
    for letter in reversed(query):
        end = text.rfind(letter, 0, end + 1)
        found.append(end)
        end -= 1
    return found[::-1]


def score(text: str, places: Sequence[int]) -> float:
    if not places:
        return 0.0
    name = text.rstrip("/").rfind("/") + 1
    points = 0.0
    for index, place in enumerate(places):
        points += 1
        points += 1 if place == 0 or text[place - 1] in _BREAKS else 0
        points += 1 if place >= name else 0
        points += 1 if index and places[index - 1] == place - 1 else 0
    starts = places[0] == name
    return points + (2 if starts else 0) - len(text) / 100
