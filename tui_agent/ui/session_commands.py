"""What the commands about sessions do: go on with one, copy, name, export, throw away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tui_agent.ui import safe
from tui_agent.ui.screens.confirm import ConfirmScreen
from tui_agent.ui.threads import in_thread

if TYPE_CHECKING:
    from tui_agent.runtime import Runtime
    from tui_agent.session.index import Summary
    from tui_agent.ui.app import TuiApp


def busy(app: TuiApp, what: str) -> bool:
    """Whether a run is on; then the person is told to stop it first."""
    if on := app.turns.run is not None:
        safe.notify(app.main, f"A run is on. Stop it first (Escape), then {what}.", severity="warning")
    return on


def idle(app: TuiApp, what: str) -> Runtime | None:
    """The open runtime, if no run is on."""
    if busy(app, what):
        return None
    runtime = app.turns.runtime
    if runtime is None:
        safe.notify(app.main, "No session is open yet.", severity="warning")
    return runtime


async def resume(app: TuiApp, identity: str) -> None:
    """`/resume`, `/resume ID`."""
    if busy(app, "resume another session"):
        return
    chosen = await in_thread(_find, identity, app.settings.folder) if identity else await choose(app)
    if chosen is not None:
        await go_to(app, chosen)
    elif identity:
        safe.notify(app.main, f"There is no session {identity!r}. /resume lists them.", severity="warning")


def _find(identity: str, folder: Path) -> Summary | None:
    """In a thread: what it imports takes a while, too."""
    from tui_agent.session.index import find

    return find(identity, folder)


async def choose(app: TuiApp) -> Summary | None:
    """Let the person choose a session."""
    from tui_agent.ui.screens.sessions import SessionsScreen

    runtime = app.turns.runtime
    current = runtime.session.id if runtime else None
    screen = SessionsScreen(app.settings.folder, current, elsewhere=not app.settings.demo)
    return await app.push_screen_wait(screen)


async def go_to(app: TuiApp, summary: Summary) -> None:
    """Open a session in the folder that it belongs to, if that is still there."""
    runtime = app.turns.runtime
    if runtime is not None and runtime.session.id == summary.id:
        return
    if busy(app, "resume another session"):  # a queued prompt may have begun meanwhile
        return
    folder = Path(summary.folder) if summary.folder else app.settings.folder
    await app.open_session(summary.id, folder if folder.is_dir() else app.settings.folder)


async def fork(app: TuiApp, _: str) -> None:
    """`/fork`: go on in a copy; what was until now stays as it is."""
    runtime = idle(app, "fork")
    if runtime is None:
        return
    from tui_agent.session import shelf
    from tui_agent.session.store import SessionError

    place = runtime.session.place
    try:
        identity = await in_thread(lambda: shelf.fork(place, app.settings.folder, redact=app.redact))
    except (OSError, SessionError) as error:
        app.main.conversation.tell(f"The session can't be copied: {error}", error=True)
        return
    said = f"This is a copy, {identity}. {place.name} stays as it was: /resume lists it."
    await app.open_session(identity, said=said)


async def rename(app: TuiApp, name: str) -> None:
    """`/rename [NAME]`."""
    runtime = app.turns.runtime
    if runtime is None:
        safe.notify(app.main, "No session is open yet.", severity="warning")
        return
    from tui_agent.session import shelf

    place = runtime.session.place
    if not name:
        from tui_agent.ui.screens.name import NameScreen

        old = await in_thread(shelf.name_of, place)
        keys = "Enter  call it so (empty: its first words)    Escape  leave it"
        given = await app.push_screen_wait(NameScreen("Rename the session", old, keys))
        if given is None:
            return
        name = given
    try:
        kept = await in_thread(shelf.rename, place, name)
    except OSError as error:
        app.main.conversation.tell(f"The name can't be kept: {error}", error=True)
        return
    said = f"This session is called {kept!r} now." if kept else "This session goes by its first words again."
    app.main.conversation.tell(said)


async def delete(app: TuiApp, _: str) -> None:
    """`/delete`: remove this session and begin another."""
    runtime = idle(app, "delete the session")
    if runtime is None:
        return
    text = "It is removed from the disk, and with it the earlier contents of its files: no undo any more."
    if not await app.push_screen_wait(
        ConfirmScreen("Delete this session?", text, "delete it, begin a new one", "keep it")
    ):
        return
    from tui_agent.session import shelf
    from tui_agent.session.store import SessionError

    place = runtime.session.place
    said = "The session was removed."
    await app.turns.close()
    try:
        if place.exists():  # one in which nothing was asked is gone already
            await in_thread(shelf.delete, place)
    except (OSError, SessionError) as error:
        said = f"The session could not be removed: {error}"
    await app.open_session(said=said)


async def export(app: TuiApp, words: str) -> None:
    """`/export [md|json] [PATH]`."""
    runtime = app.turns.runtime
    if runtime is None:
        safe.notify(app.main, "No session is open yet.", severity="warning")
        return
    from tui_agent.masking import masked_events
    from tui_agent.session import export as exporting

    session, events, folder = runtime.session, list(runtime.events), app.settings.folder
    try:
        place = await in_thread(
            lambda: exporting.write(session, masked_events(events), words, folder, app.redact)
        )
    except (OSError, exporting.ExportError) as error:
        app.main.conversation.tell(f"Not exported: {error}", error=True)
        return
    app.main.conversation.tell(f"This session is in {place}. Only you may read it; keys are left out.")
