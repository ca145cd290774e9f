"""Web addresses in text. Only `http` and `https` count; whatever else looks like one stays text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_ADDRESS = re.compile(r"https?://[^\s<>\"'`\]}|]+")
_AFTER = ".,;:!?"
"""What may follow an address in a sentence and is not meant by it."""


class Address(NamedTuple):
    start: int
    end: int
    url: str


def addresses(text: str) -> Iterator[Address]:
    """In their order. A bracket that was not opened in an address ends it: `[a](https://b) (see c)`."""
    for match in _ADDRESS.finditer(text):
        url = _closed(match[0]).rstrip(_AFTER)
        yield Address(match.start(), match.start() + len(url), url)


def _closed(url: str) -> str:
    depth = 0
    for place, character in enumerate(url):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return url[:place]
    return url
