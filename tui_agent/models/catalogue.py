"""What is known about models: from the server when it tells, else from this short table of names."""

from __future__ import annotations

from dataclasses import dataclass

FALLBACK_WINDOW = 200_000
"""Tokens that every model we know of can take in."""

ADAPTIVE = (
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-sonnet-4-6",
    "claude-opus-5",
    "claude-sonnet-5",
    "claude-haiku-5",
    "claude-fable-5",
    "claude-mythos-5",
    "claude-mythos-preview",
)
"""Beginnings of the names of models that decide themselves how much to think."""


@dataclass(frozen=True)
class ModelInfo:
    """A model as its server describes it. None: it doesn't say."""

    id: str
    display_name: str
    window: int | None = None
    max_output: int | None = None


def thinks_adaptively(name: str) -> bool:
    """False for names that we don't know: a server may refuse a setting that its model doesn't have."""
    return name.startswith(ADAPTIVE)
