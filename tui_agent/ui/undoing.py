"""Taking changes back: which of them is meant, what it would do, the question, the deed, the word on it.

All ways (`u` in the changes pane, `/undo`) meet in `ask_and_undo`. While a run is on nothing is taken back:
the model works on files as it knows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tui_agent.text import plural
from tui_agent.ui import safe
from tui_agent.ui.threads import in_thread

if TYPE_CHECKING:
    from tui_agent.tools.hunks import Key
    from tui_agent.ui.app import TuiApp
    from tui_agent.ui.file_changes import ChangedFile
    from tui_agent.undo.plan import Target


class Choice(NamedTuple):
    """Something that can be taken back, and the key that chooses it."""

    key: str
    name: str
    target: Target


async def ask_and_undo(app: TuiApp, choices: Sequence[Choice]) -> None:
    """Show what taking back the first choice, or another one, would do; on a yes, do it."""
    runtime = app.turns.runtime
    if runtime is None or app.turns.run is not None:
        safe.notify(app.main, "A run is on. Stop it first (Escape), then undo.", severity="warning")
        return
    from tui_agent.ui.screens.undo import UndoScreen
    from tui_agent.undo.changes import UndoError

    plan = await app.push_screen_wait(UndoScreen(runtime.changes, choices))
    if plan is None:
        return
    if app.turns.run is not None:  # a queued prompt may have begun meanwhile
        safe.notify(app.main, "A run is on. Stop it first (Escape), then undo.", severity="warning")
        return
    try:
        identity = await runtime.undo(plan)
    except UndoError as error:
        app.main.conversation.tell(str(error), error=True)
        return
    files = plural(len(plan.restores), "file")
    app.main.conversation.tell(f"Undone: {plan.title} ({files}). /undo {identity} brings it back.")


def choices_for(file: ChangedFile, hunk: frozenset[Key]) -> list[Choice]:
    """What `u` on a file can mean, the nearest first."""
    from tui_agent.undo.plan import OfCall, OfFile, OfHunk, OfTurn

    choices = [Choice("f", "the file", OfFile(file.path, file.turn))]
    if hunk:
        target = OfHunk(file.path, file.before.hash, file.after.hash, hunk, file.turn)
        choices.insert(0, Choice("h", "this hunk", target))
    if file.last.origin == "undo":
        return [*choices, Choice("c", file.last.call_id, OfCall(file.last.call_id))]
    call = Choice("c", "the last call", OfCall(file.last.call_id))
    return [*choices, call, Choice("t", f"turn {file.last.turn}", OfTurn(file.last.turn))]


async def undo_command(app: TuiApp, words: str) -> None:
    """`/undo`, `/undo turn 3`, `/undo src/a.py`, `/undo undo-1`."""
    runtime = app.turns.runtime
    if runtime is None:
        safe.notify(app.main, "There is nothing to undo yet.", severity="warning")
        return
    from tui_agent.undo.plan import meant

    target = runtime.changes.latest() if not words else meant(words, runtime.changes.ledger)
    if target is not None:
        await ask_and_undo(app, [Choice("", "", target)])
    elif words:
        text = f"{words!r} is no turn, file or call of this session. The changes pane (F4) lists them."
        safe.notify(app.main, text, severity="warning")
    else:
        safe.notify(app.main, "There is nothing to undo: no change of this session is left.")


async def export_command(app: TuiApp, _: str) -> None:
    """`/diff`: the session's changes as a patch."""
    runtime = app.turns.runtime
    if runtime is None or not runtime.changes.has_changes:
        safe.notify(app.main, "This session has changed no file.")
        return
    from tui_agent.masking import hides

    changes = runtime.changes
    export = await in_thread(changes.export)
    words = []
    if export.left_out:
        words.append(f"Left out, since their earlier content is not held: {', '.join(export.left_out)}.")
    if secrets := [path for path in export.parts if hides(path)]:
        words.append(f"It has the values of {', '.join(secrets)} in it: keep it to yourself.")
    try:
        place = await in_thread(changes.save, export)
    except OSError as error:
        app.main.conversation.tell(f"The patch can't be written: {error.strerror or error}.", error=True)
        return
    app.main.conversation.tell(
        f"The changes of {plural(len(export.parts), 'file')} are in {place}",
        " ".join([*words, "Apply them elsewhere with: git apply FILE"]),
    )
