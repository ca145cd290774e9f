"""The rule that "allow from now on" would save: its exact words, for how long, and the saving."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_agent.permissions.broker import Question
    from tui_agent.permissions.policy import Scope

Covers = Callable[["Question"], bool]
"""Whether a question need not be asked any more."""
OnGrant = Callable[[str, "Scope"], Covers]
"""Save a rule for so long; raises ValueError with words for the person when the rule is none."""

SCOPES: tuple[tuple[Scope, str], ...] = (
    ("turn", "this turn"),
    ("session", "this session"),
    ("always", "always in this folder"),
)
ALWAYS_KEYS = "the rule can be edited · Tab changes how long · Enter saves it and approves · Esc leaves"


class OfferedRule:
    def __init__(self, on_grant: OnGrant) -> None:
        self._on_grant = on_grant
        self._scope = 0

    @property
    def label(self) -> str:
        return f"Allow from now on · {SCOPES[self._scope][1]}"

    def turn(self, step: int) -> None:
        """Another scope."""
        self._scope = (self._scope + step) % len(SCOPES)

    def save(self, rule: str) -> Covers:
        """Save the rule; raises ValueError with what is wrong with it."""
        return self._on_grant(rule, SCOPES[self._scope][0])
