"""A draft: the text of the prompt box and the pastes that are folded in it.

A long paste stands in the box as a chip, `[pasted 240 lines, 12 KB]`. What is sent has the pasted text in
its place, exactly as it came. A chip is text like any other until its label is known: only the labels of
`pastes` count, and each pasted text is looked at once, so a paste may contain a label itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tui_agent.text import plural, size_text

LONG = 1000
"""Characters from which a paste is folded."""
TALL = 10
"""Lines from which a paste is folded."""
HEAVY = 20_000
"""Characters that the box holds unfolded when a whole draft is put into it."""


@dataclass(frozen=True)
class Draft:
    text: str
    pastes: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.text.strip())

    @property
    def whole(self) -> str:
        """What is sent."""
        if not self.pastes:
            return self.text
        return _labels(self.pastes).sub(lambda found: self.pastes[found[0]], self.text)

    def stripped(self) -> Draft:
        """Without the pastes whose chips are gone."""
        return Draft(self.text, {label: text for label, text in self.pastes.items() if label in self.text})

    def redacted(self, redact: Callable[[str], str]) -> Draft:
        """Itself with its texts filtered."""
        return Draft(redact(self.text), {label: redact(paste) for label, paste in self.pastes.items()})

    def as_json(self) -> dict[str, Any]:
        kept = self.stripped()
        return {"text": kept.text, "pastes": dict(kept.pastes)} if kept.pastes else {"text": kept.text}

    @classmethod
    def from_json(cls, value: Any) -> Draft | None:
        """None for what is not a draft: files may hold anything."""
        if not isinstance(value, dict) or not isinstance(text := value.get("text"), str):
            return None
        pastes = value.get("pastes", {})
        if not isinstance(pastes, dict) or not all(isinstance(paste, str) for paste in pastes.values()):
            return None
        return cls(text, {label: paste for label, paste in pastes.items() if label})


def is_long(paste: str) -> bool:
    return len(paste) > LONG or paste.count("\n") >= TALL


def fold(paste: str, taken: Mapping[str, str]) -> str:
    """The label for a paste, unlike those that are `taken` for other texts."""
    size = len(paste.encode("utf-8", "surrogatepass"))
    lines = paste.removesuffix("\n").count("\n") + 1
    words = f"pasted {plural(lines, 'line')}, {size_text(size)}"
    label, number = f"[{words}]", 1
    while taken.get(label, paste) != paste:
        number += 1
        label = f"[{words}, #{number}]"
    return label


def folded(draft: Draft) -> Draft:
    """A draft that the box can hold: as one chip, if its text is too heavy."""
    if len(draft.text) <= HEAVY:
        return draft
    whole = draft.whole
    label = fold(whole, {})
    return Draft(label, {label: whole})


def adopted(draft: Draft, taken: Mapping[str, str]) -> Draft:
    """The same draft beside other pastes: labels that they have for other texts are changed."""
    renamed: dict[str, str] = {}
    known = {**draft.pastes, **taken}
    for label, text in draft.pastes.items():
        if known[label] != text:
            renamed[label] = fold(text, known)
            known[renamed[label]] = text
    if not renamed:
        return draft
    text = _labels(renamed).sub(lambda found: renamed[found[0]], draft.text)
    return Draft(text, {renamed.get(label, label): paste for label, paste in draft.pastes.items()})


def joined(drafts: Iterable[Draft]) -> Draft:
    """All of them in one, a blank line between each two."""
    texts: list[str] = []
    pastes: dict[str, str] = {}
    for draft in drafts:
        own = adopted(draft.stripped(), pastes)
        texts.append(own.text)
        pastes |= own.pastes
    return Draft("\n\n".join(texts), pastes)


def chips(line: str, labels: Iterable[str]) -> list[tuple[int, int]]:
    """Where in a line chips stand, as start and end columns."""
    known = list(labels)
    return [found.span() for found in _labels(known).finditer(line)] if known else []


def _labels(labels: Iterable[str]) -> re.Pattern[str]:
    longest_first = sorted(labels, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first)))
