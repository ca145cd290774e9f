"""How a turn ended, in words, each with the next step. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tui_agent.ui.widgets.pieces import NoteKind


class Ending(NamedTuple):
    kind: NoteKind
    text: str
    hint: str = ""


GO_ON = "/continue goes on."

_WORDS: dict[str, Ending] = {
    "cancelled": Ending("stopped", "stopped"),
    "refusal": Ending(
        "warning",
        "The model declined to answer.",
        "/takeback takes it out of the conversation and gives the prompt back, to say it in another way.",
    ),
    "max_tokens": Ending("warning", "The answer was cut at the output limit.", "/continue has the rest."),
    "model_context_window_exceeded": Ending(
        "warning",
        "The model's window is full.",
        "/compact shortens the conversation, /rewind goes back in it, /clear begins another.",
    ),
    "pause_turn": Ending("warning", "The server paused its own work again and again.", GO_ON),
}
_QUIET = frozenset({"end_turn", "stop_sequence", "step_limit"})
"""Ends that say nothing more: the answer does, or the event of the limit did."""


def ending_of(stop_reason: str, error: str | None, hint: str | None) -> Ending | None:
    """What to tell of it; None if there is nothing to tell."""
    if stop_reason == "stuck":
        return Ending("warning", f"Stopped: {error}.", "Say what to do in another way, or /continue goes on.")
    if stop_reason == "step_limit" and error:
        return Ending("warning", f"Stopped: {error}.", GO_ON)
    if error:
        return Ending(
            "error", error, f"{hint} Then /continue tries again." if hint else "/continue tries again."
        )
    if stop_reason in _QUIET:
        return None
    return _WORDS.get(stop_reason, Ending("warning", f"The answer ended with “{stop_reason}”.", GO_ON))


def step_limit(steps: str) -> Ending:
    return Ending("warning", f"{steps} are done, the limit.", GO_ON)
