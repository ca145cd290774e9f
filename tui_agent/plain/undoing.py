"""The commands about what the session changed: take it back, print it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tui_agent.agent.calling import in_thread
from tui_agent.masking import HIDDEN, Mask, hides, masked_change
from tui_agent.text import one_line, plural, visible
from tui_agent.undo.changes import Changes, UndoError
from tui_agent.undo.plan import Plan, Refusal, Target, becomes, meant

if TYPE_CHECKING:
    from tui_agent.plain.conversation import Conversation

_BINARY = "GIT binary patch\n"


async def undo(here: Conversation, words: str) -> None:
    """`/undo`, `/undo turn 3`, `/undo src/a.py`, `/undo undo-1`."""
    say, changes = here.console.say, here.runtime.changes
    target = meant(words, changes.ledger) if words else changes.latest()
    if target is None and words:
        say(f"{one_line(words)} is no turn, file or call of this session.")
    elif target is None:
        say("There is nothing to undo: no change of this session is left.")
    if target is None:
        return
    result, lines = await in_thread(_planned, changes, target)
    say("\n".join(lines))
    if isinstance(result, Refusal):
        return
    if not await here.confirm("Undo it? yes / no:"):
        say("Nothing was undone.")
        return
    try:
        identity = await here.runtime.undo(result)
    except UndoError as error:
        say(visible(str(error)))
        return
    files = plural(len(result.restores), "file")
    say(f"Undone: {one_line(result.title)} ({files}). /undo {identity} brings it back.")


def _planned(changes: Changes, target: Target) -> tuple[Plan | Refusal, list[str]]:
    result = changes.plan(target)
    return result, [f"Undo {one_line(result.title)}:", *_lines(changes, result)]


def _lines(changes: Changes, result: Plan | Refusal) -> Iterator[str]:
    if isinstance(result, Plan):
        for restore in result.restores:
            yield f"  {one_line(restore.path)} {becomes(restore, changes.ledger, changes.content)}"
        for conflict in result.left:
            yield f"  {one_line(conflict.path)} stays as it is: {one_line(conflict.reason)}"
        return
    yield result.reason
    for conflict in result.conflicts:
        yield f"  {one_line(conflict.path)}: {one_line(conflict.reason)}"
        difference = changes.difference(conflict)
        if difference is not None and difference.diff:
            yield f"Changed since then:\n{visible(masked_change(difference).diff)}".rstrip("\n")


async def diff(here: Conversation, _: str) -> None:
    """`/diff`: the session's changes as a patch."""
    say, changes = here.console.say, here.runtime.changes
    if not changes.has_changes:
        say("This session has changed no file.")
        return
    export = await in_thread(changes.export)
    for path, part in export.parts.items():
        say(_printed(path, part))
    if export.left_out:
        left_out = ", ".join(map(one_line, export.left_out))
        say(f"Left out, since their earlier content is not held: {left_out}.")
    try:
        place = await in_thread(changes.save, export)
    except OSError as error:
        say(f"The patch can't be written: {error.strerror or error}.")
        return
    secrets = " It has the hidden values in it: keep it to yourself." if any(map(hides, export.parts)) else ""
    files = plural(len(export.parts), "file")
    say(f"The changes of {files} are in {one_line(str(place))}, for git apply.{secrets}")


def _printed(path: str, part: bytes) -> str:
    """A file's part of the patch as a person may hear it: without secrets, and without packed bytes."""
    head, binary, _ = part.decode("utf-8", "replace").partition(_BINARY)
    if binary:
        return f"{visible(head)}(binary: not printed)"
    return visible(f"{HIDDEN}\n{Mask().diff(head)}" if hides(path) else head)
