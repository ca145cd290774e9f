"""Which contents of files the model knows, from what a session stored: what was read need not be again."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from tui_agent.agent import AgentEvent
from tui_agent.tools.details import FileChange, FileRead, revive

WHOLE = "write_file"
"""The tool whose calls hold all of a file; the others build on what was read."""


def seen_in(events: Iterable[AgentEvent]) -> dict[str, str]:
    """Path → hash, as `Workspace.seen` had it when the session was left."""
    seen: dict[str, str] = {}
    for event in events:
        if event.type != "tool_call_finished" or event.result.is_error:
            continue
        try:
            details = revive(event.result.details)
        except ValidationError:  # of another version of the program
            continue
        if isinstance(details, FileRead) and details.hash:
            seen[details.path] = details.hash
        elif isinstance(details, FileChange) and details.after_hash:
            known = details.before_hash is None or seen.get(details.path) == details.before_hash
            if known or event.result.tool_name == WHOLE:
                seen[details.path] = details.after_hash
    return seen
