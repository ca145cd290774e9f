"""Which lines of two files are the same: an edit script that is quick on any input.

Common ends are trimmed; lines that occur once on both sides anchor the rest (patience); between anchors the
shortest script is searched (Myers), over lines that both sides have, up to a bound. Past the bound the
stretch counts as replaced as a whole: a diff that is longer than it must be, never a wrong one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_MAX_SCRIPT = 300
"""Steps of the shortest script that is searched; its time grows with the square."""


class Edit(NamedTuple):
    """`before[start:stop]` becomes `after[new_start:new_stop]`; one of the two may be empty."""

    start: int
    stop: int
    new_start: int
    new_stop: int


def edits(before: Sequence[Hashable], after: Sequence[Hashable]) -> tuple[Edit, ...]:
    """The changed stretches in order. Neighbours are never adjacent."""
    found: list[Edit] = []
    at = new_at = 0
    for i, j in (*_matches(before, after), (len(before), len(after))):
        if i > at or j > new_at:
            found.append(Edit(at, i, new_at, j))
        at, new_at = i + 1, j + 1
    return tuple(found)


def _matches(a: Sequence[Hashable], b: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Pairs of indexes of equal items, both rising."""
    stack = [(0, len(a), 0, len(b))]
    while stack:
        low, high, new_low, new_high = stack.pop()
        if high < 0:  # marks a matched run that waits for its turn: (start, -length, new_start, _)
            yield from ((low + k, new_low + k) for k in range(-high))
            continue
        head = _common(a, b, low, high, new_low, new_high)
        yield from ((low + k, new_low + k) for k in range(head))
        low, new_low = low + head, new_low + head
        tail = 0
        while (
            high - tail > low and new_high - tail > new_low and a[high - tail - 1] == b[new_high - tail - 1]
        ):
            tail += 1
        high, new_high = high - tail, new_high - tail
        if tail:
            stack.append((high, -tail, new_high, 0))
        if low == high or new_low == new_high:
            continue
        pairs = _anchors(a, b, low, high, new_low, new_high)
        if not pairs:
            pairs = _shortest(a, b, low, high, new_low, new_high)
            stack.extend((i, -1, j, 0) for i, j in reversed(pairs))
            continue
        ends = [(high, new_high), *reversed(pairs)]
        for (stop, new_stop), (i, j) in pairwise(ends):
            stack.append((i + 1, stop, j + 1, new_stop))
            stack.append((i, -1, j, 0))
        stack.append((low, pairs[0][0], new_low, pairs[0][1]))


def _common(
    a: Sequence[Hashable], b: Sequence[Hashable], low: int, high: int, new_low: int, new_high: int
) -> int:
    length, limit = 0, min(high - low, new_high - new_low)
    while length < limit and a[low + length] == b[new_low + length]:
        length += 1
    return length


def _anchors(
    a: Sequence[Hashable], b: Sequence[Hashable], low: int, high: int, new_low: int, new_high: int
) -> list[tuple[int, int]]:
    """The longest rising row of items that are unique on both sides."""
    counts, new_counts = Counter(a[low:high]), Counter(b[new_low:new_high])
    where = {b[j]: j for j in range(new_low, new_high) if new_counts[b[j]] == 1}
    unique = [(i, where[a[i]]) for i in range(low, high) if counts[a[i]] == 1 and a[i] in where]
    tops: list[int] = []  # the lowest end of a rising row of each length
    heads: list[int] = []
    previous: list[int] = []
    for index, (_, j) in enumerate(unique):
        length = bisect_left(tops, j)
        if length == len(tops):
            tops.append(j)
            heads.append(index)
        else:
            tops[length], heads[length] = j, index
        previous.append(heads[length - 1] if length else -1)
    chosen: list[tuple[int, int]] = []
    index = heads[-1] if heads else -1
    while index >= 0:
        chosen.append(unique[index])
        index = previous[index]
    return chosen[::-1]


def _shortest(
    a: Sequence[Hashable], b: Sequence[Hashable], low: int, high: int, new_low: int, new_high: int
) -> list[tuple[int, int]]:
    """Pairs along Myers' shortest script between the items both sides have; none when it gets too long."""
    shared = set(a[low:high]) & set(b[new_low:new_high])
    left = [i for i in range(low, high) if a[i] in shared]
    right = [j for j in range(new_low, new_high) if b[j] in shared]
    n, m = len(left), len(right)
    furthest = {1: 0}
    trail: list[dict[int, int]] = []
    for depth in range(min(n + m, _MAX_SCRIPT) + 1):
        trail.append(furthest.copy())
        for k in range(-depth, depth + 1, 2):
            down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and a[left[x]] == b[right[y]]:
                x, y = x + 1, y + 1
            furthest[k] = x
            if x >= n and y >= m:
                return [(left[x], right[y]) for x, y in _path_back(trail, n, m)]
    return []


def _path_back(trail: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for depth in range(len(trail) - 1, -1, -1):
        furthest, k = trail[depth], x - y
        down = k == -depth or (k != depth and furthest[k - 1] < furthest[k + 1])
        last_k = k + 1 if down else k - 1
        last_x = furthest[last_k] if depth else 0
        last_y = last_x - last_k if depth else 0
        while x > last_x and y > last_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = last_x, last_y
    return pairs[::-1]
