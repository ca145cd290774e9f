"""The dialogs, as scenes: with fixed contents, over the conversation."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from app_host import Host, still, until
from scene_session import AFTER, BEFORE, CHANGE
from textual.pilot import Pilot
from textual.screen import Screen
from undo.undo_host import Host as Undo

from tui_agent.models.catalogue import ModelInfo
from tui_agent.permissions.modes import Mode
from tui_agent.permissions.policy import Decided, Policy
from tui_agent.permissions.rules import parse_rule
from tui_agent.permissions.trust import project_files
from tui_agent.session.contents import PARTS, Contents
from tui_agent.session.index import Summary
from tui_agent.session.prompts import Asked
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.past import Past
from tui_agent.ui.screens import key_list, sessions, theme_picker
from tui_agent.ui.screens.change import ChangeScreen
from tui_agent.ui.screens.confirm import ConfirmScreen
from tui_agent.ui.screens.context import ContextScreen
from tui_agent.ui.screens.models import ModelChoice, ModelScreen
from tui_agent.ui.screens.past_search import PastSearch
from tui_agent.ui.screens.permissions import PermissionsScreen
from tui_agent.ui.screens.rewind import RewindScreen
from tui_agent.ui.screens.sessions import SessionsScreen
from tui_agent.ui.screens.trust import TrustScreen
from tui_agent.ui.screens.undo import UndoScreen
from tui_agent.ui.screens.welcome import WelcomeScreen
from tui_agent.ui.undoing import Choice
from tui_agent.undo.plan import OfFile, OfTurn

Scene = Callable[["Pilot[Any]", Host, Path], Awaitable[None]]
TITLES = (
    "Why does an empty cart cost 4.90? Fix it.",
    "[/red] a title that \x1b[31mtries\x1b]0;x\x07 something, and is longer than any row of any list may be",
    "日本語の題名 👩‍👩‍👧 wide",
)
HOME = Path("/home/me/shop")
SETTINGS = Path("/home/me/.config/tui-agent/settings.toml")


def dialog(made: Callable[[Path], Screen[Any]], settled: str, *keys: str, then: str = "") -> Scene:
    """This screen, once it says `settled`; after the keys it says `then`."""

    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        app.push_screen(made(folder))
        await until(pilot, lambda: settled in app.text)
        await still(pilot)  # a dialog over this one keeps the picture that it found below itself
        await pilot.press(*keys)
        await until(pilot, lambda: then in app.text)

    return scene


def with_sessions(*keys: str, then: str = "") -> Scene:
    """Three sessions, in which all words are found."""

    def found(places: list[Path], words: str, stopped: Callable[[], bool]) -> dict[Path, str]:
        return dict.fromkeys(places[:2], f"… the {words} of the customer is empty …")

    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        listed, looked = (
            patch.object(sessions, "_listed", _summaries),
            patch.object(sessions, "_found", found),
        )
        with listed, looked, patch.object(sessions, "PAUSE", 0.0):
            screen = dialog(
                lambda _: SessionsScreen(HOME, _summaries()[0].id), "3 sessions", *keys, then=then
            )
            await screen(pilot, app, folder)

    return scene


def _summaries(folder: Path | None = None) -> list[Summary]:
    now = time.time()
    known = zip(TITLES, (30, 7300, 200_000), (812, 34_000, 2_100_000), strict=True)
    return [
        Summary(f"2026010{n}-120000-abcdef", Path(f"/s/{n}"), str(HOME), title, now - age, size)
        for n, (title, age, size) in enumerate(known)
    ]


def at_home(module: Any, *keys: str) -> Scene:
    """What comes of the keys, where the settings are in a known place."""

    async def scene(pilot: Pilot[Any], app: Host, folder: Path) -> None:
        with patch.object(module, "settings_file", lambda: SETTINGS):
            await pilot.press(*keys)
            await until(pilot, lambda: app.screen is not app.main)
            await pilot.pause()

    return scene


async def _listed() -> tuple[ModelInfo, ...]:
    return (
        ModelInfo("claude-opus-5-5", "Claude Opus 5.5", 1_000_000),
        ModelInfo("claude-haiku-5-5", "Claude Haiku 5.5", 200_000),
    )


def _models(_: Path) -> ModelScreen:
    return ModelScreen(ModelChoice("claude-opus-5-5", "high"), _listed)


def _context(_: Path) -> ContextScreen:
    parts = zip(PARTS, (1_200, 2_300, 800, 3_400, 900, 41_000, 2_400, 0), strict=True)
    return ContextScreen("claude-opus-5-5", Contents(tuple(parts), 52_000, 200_000))


def _rewind(_: Path) -> RewindScreen:
    return RewindScreen([Asked(title, n, n) for n, title in enumerate(TITLES, 1)])


def _permissions(_: Path) -> PermissionsScreen:
    rules = [
        parse_rule("allow", "run_command(python3 -m unittest *)", "user"),
        parse_rule("allow", "edit_file(shop/**)", "session"),
        parse_rule("deny", "run_command(git push *)", "project"),
        parse_rule("ask", f"read_file({'very/' * 20}long)", "command line"),
    ]
    policy = Policy(Mode.ASK, rules, HOME)
    policy.log += [
        Decided("1", "read_file", "Read shop/order.py", "allow", "mode", mode="ask"),
        Decided("2", "edit_file", "Edit shop/order.py", "allow", "user"),
        Decided("3", "run_command", "git push --force origin main", "deny", "rule", rule=rules[2].text),
    ]
    return PermissionsScreen(policy)


def _undo(folder: Path, *, meddled: bool) -> UndoScreen:
    """Two files of one turn; the person may have changed one of them since."""
    place = folder / "undo"
    place.mkdir()
    host = Undo(place)
    host.put("shop/order.py", BEFORE)
    host.turn()
    host.write("shop/order.py", AFTER)
    host.write("tests/test_empty_cart.py", b"assert total([]) == 0\n")
    if meddled:
        host.put("shop/order.py", AFTER.replace(b"return 0", b"return None"))
    choices = [Choice("f", "the file", OfFile("shop/order.py")), Choice("t", "turn 1", OfTurn(1))]
    return UndoScreen(host.changes, choices)


def _past(_: Path) -> PastSearch:
    past = Past()
    for text in (
        "add a discount",
        "Why does an empty cart cost 4.90?",
        f"cart: {'more words ' * 20}",
        TITLES[1],
    ):
        past.add(Draft(text))
    return PastSearch(past)


def _change(_: Path) -> ChangeScreen:
    held = {CHANGE.before_hash: BEFORE, CHANGE.after_hash: AFTER}
    return ChangeScreen(CHANGE, held.get)


def _trust(folder: Path) -> TrustScreen:
    place = folder / "trusted"
    place.mkdir()
    (place / "AGENTS.md").write_text("# House rules\n\nRun the tests with `make test`.\n")
    return TrustScreen(HOME, project_files(place), lambda text: None)


def _confirm(_: Path) -> ConfirmScreen:
    return ConfirmScreen("Quit?", "A run is on. Quitting cancels it.", "cancel the run and quit", "go on")


SCENES: dict[str, Scene] = {
    "sessions": with_sessions(),
    "sessions_search": with_sessions("slash", *"cart", then="2 sessions"),
    "sessions_delete": with_sessions("down", "d", then="Delete this session?"),
    "name": with_sessions("down", "r", then="Rename the session"),
    "rewind": dialog(_rewind, "Takes 1 prompt"),
    "models": dialog(_models, "window 1M"),
    "context": dialog(_context, "answers"),
    "permissions": dialog(_permissions, "Rules and grants"),
    "permissions_log": dialog(_permissions, "Rules and grants", "tab", then="Who decided what"),
    "undo": dialog(lambda folder: _undo(folder, meddled=False), "changes back", "t", then="is deleted"),
    "undo_refused": dialog(lambda folder: _undo(folder, meddled=True), "Changed since then"),
    "past_search": dialog(_past, "4 earlier prompts", *"cart", then="2 earlier prompts"),
    "change": dialog(_change, "hunk 1 of 1"),
    "change_find": dialog(_change, "hunk 1 of 1", "slash", *"cart", "enter", then="1 of"),
    "trust": dialog(_trust, "Trust this folder?"),
    "confirm": dialog(_confirm, "Quit?"),
    "welcome": dialog(lambda _: WelcomeScreen(lambda text: None), "No key for the model"),
    "keys": at_home(key_list, *"/keys", "enter"),
    "themes": at_home(theme_picker, *"/theme", "enter"),
}
