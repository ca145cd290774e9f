"""The commands about sessions: go on with one, begin one, name it, export it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tui_agent.agent.calling import in_thread
from tui_agent.masking import masked_events
from tui_agent.session import export as exporting
from tui_agent.session import shelf
from tui_agent.session.index import Summary, find, sessions
from tui_agent.text import ago, one_line

if TYPE_CHECKING:
    from tui_agent.plain.conversation import Conversation

LISTED = 20


async def resume(here: Conversation, identity: str) -> None:
    """`/resume`, `/resume ID`."""
    if not identity:
        chosen = await _choose(here)
    elif (chosen := await in_thread(find, identity, here.settings.folder)) is None:
        here.console.say(f"There is no session {one_line(identity)}. /resume lists them.")
    if chosen is None:
        return
    if chosen.id == here.runtime.session.id:
        here.console.say("This session is open already.")
        return
    await here.reopen(chosen.id, _folder_of(chosen))


def _folder_of(session: Summary) -> Path | None:
    """The folder that it belongs to, if that is still there."""
    folder = Path(session.folder)
    return folder if session.folder and folder.is_dir() else None


async def _choose(here: Conversation) -> Summary | None:
    """Let the person choose a session by its number."""
    open_one = here.runtime.session.id
    listed: list[Summary] = await in_thread(sessions, here.settings.folder)
    others = [summary for summary in listed if summary.id != open_one]
    if not others:
        here.console.say("There is no other session in this folder.")
        return None
    now = time.time()
    lines = [
        f"{number}. {one_line(one.title)}, {ago(now - one.changed)}"
        for number, one in enumerate(others[:LISTED], 1)
    ]
    if len(others) > LISTED:
        lines.append(f"and {len(others) - LISTED:,} older ones: /resume ID")
    here.console.say("\n".join(["Sessions of this folder:", *lines]))
    line = await here.ask("Which one? Its number, or nothing:", lambda line: line.strip().isdecimal())
    word = (line or "").strip()
    if word.isdecimal() and 1 <= int(word) <= len(lines[:LISTED]):
        return others[int(word) - 1]
    here.console.say("The session stays open." if not word else "There is no such number.")
    return None


async def clear(here: Conversation, _: str) -> None:
    """`/clear`."""
    await here.reopen(None)


async def rename(here: Conversation, name: str) -> None:
    """`/rename [NAME]`."""
    place = here.runtime.session.place
    if not name:
        old = await in_thread(shelf.name_of, place)
        now = f"is called {one_line(old)}" if old else "goes by its first words"
        here.console.say(f"This session {now}. /rename NAME gives it a name.")
        return
    try:
        kept = await in_thread(shelf.rename, place, name)
    except OSError as error:
        here.console.say(f"The name can't be kept: {one_line(str(error))}")
        return
    here.console.say(f"This session is called {one_line(kept)} now.")


async def export(here: Conversation, words: str) -> None:
    """`/export [md|json] [PATH]`."""
    session, events = here.runtime.session, list(here.runtime.events)
    folder, redact = here.settings.folder, here.settings.credentials.redact
    try:
        place = await in_thread(
            lambda: exporting.write(session, masked_events(events), words, folder, redact)
        )
    except (OSError, exporting.ExportError) as error:
        here.console.say(f"Not exported: {one_line(str(error))}")
        return
    here.console.say(f"This session is in {one_line(str(place))}. Only you may read it; keys are left out.")
