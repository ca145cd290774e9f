"""When an answer counts: after half a second on the screen and half a second without a key or paste.

A question may appear in the middle of a word. What was typed for the prompt is kept and goes back to it,
and no letter of it answers. Times are those of the events, not of their handling: a key that waited while
the program was busy is as old as it is.
"""

from __future__ import annotations

QUIET = 0.5


class Arming:
    def __init__(self) -> None:
        self._since: float | None = None
        self._armed = False
        self._typed: list[str] = []

    def painted(self, at: float) -> None:
        """What is asked is on the screen since then."""
        self._since = at if self._since is None else max(at, self._since)

    def touched(self, at: float) -> None:
        """A key, a paste, or the window's coming to the front: the quiet starts again."""
        if self._since is not None:
            self._armed = self._armed or self.counts(at)
            self._since = max(self._since, at)

    def counts(self, at: float) -> bool:
        """Whether an answer given at `at` counts."""
        return self._since is not None and at - self._since >= QUIET

    def counts_since(self, since: float, at: float) -> bool:
        """The same rule for something else that happened."""
        return at - since >= QUIET

    def remaining(self, now: float) -> float:
        """Seconds until an answer would count."""
        return QUIET if self._since is None else max(0.0, QUIET - (now - self._since))

    def early(self, at: float) -> bool:
        """Whether a key belongs to what was being typed before the question came."""
        return not (self._armed or self.counts(at))

    def keep(self, text: str) -> None:
        """Early text, for the prompt."""
        self._typed.append(text)

    def unkeep(self) -> None:
        """An early backspace."""
        if self._typed:
            self._typed.pop()

    def take(self) -> str:
        """What was kept, once."""
        text = "".join(self._typed)
        self._typed.clear()
        return text
