"""What the commands about the model's context do: look at it, shorten it, go back in it, change the model."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tui_agent.settings import EFFORTS
from tui_agent.ui import safe
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.session_commands import idle
from tui_agent.ui.status import SHORTENING

if TYPE_CHECKING:
    from tui_agent.agent import CancelSignal
    from tui_agent.runtime import Runtime
    from tui_agent.session.prompts import Asked
    from tui_agent.ui.app import TuiApp
    from tui_agent.ui.screens.models import ModelChoice


async def context(app: TuiApp, _: str) -> None:
    """`/context`."""
    runtime = app.turns.runtime
    if runtime is None:
        safe.notify(app.main, "No session is open yet.", severity="warning")
        return
    from tui_agent.ui.screens.context import ContextScreen

    app.push_screen(ContextScreen(runtime.model_name, runtime.context.contents()))


async def compact(app: TuiApp, focus: str) -> None:
    """`/compact [WHAT TO KEEP]`: a run like any other, which Escape stops."""
    if idle(app, "shorten the conversation") is None:
        return

    async def work(runtime: Runtime, signal: CancelSignal) -> None:
        from tui_agent.agent import Cancelled, ModelError

        now = time.monotonic()
        app.main.status_line.update(began=now, heard=now, doing=SHORTENING)
        try:
            await runtime.context.compact(focus, signal)
        except Cancelled:
            app.main.conversation.tell("Stopped: the conversation is as it was.")
        except ModelError as error:
            words = f"The conversation was not shortened: {error.message}."
            app.main.conversation.tell(words, error.hint, error=True)
        finally:
            app.main.status_line.update(began=None, doing="")

    app.turns.do(work)


async def rewind(app: TuiApp, _: str) -> None:
    """`/rewind`: the conversation goes back; files are another question."""
    runtime = idle(app, "go back")
    if runtime is None:
        return
    prompts = runtime.context.prompts()
    if not prompts:
        safe.notify(app.main, "There is no prompt to go back to.")
        return
    from tui_agent.ui.screens.rewind import RewindScreen

    chosen = await app.push_screen_wait(RewindScreen(prompts))
    if chosen is None or idle(app, "go back") is not runtime:
        return
    await _go_back(app, runtime, chosen)


async def take_back(app: TuiApp, _: str) -> None:
    """`/takeback`: the last prompt and its answer go, as after a refusal; the prompt comes back."""
    runtime = idle(app, "take a prompt back")
    if runtime is None:
        return
    prompts = runtime.context.prompts()
    if prompts:
        await _go_back(app, runtime, prompts[-1])
    else:
        safe.notify(app.main, "There is no prompt to take back.")


async def _go_back(app: TuiApp, runtime: Runtime, to: Asked) -> None:
    await runtime.context.rewind(to)
    app.main.prompt.give_back(Draft(to.text))
    app.main.status_line.update(tokens=runtime.context.contents().filled)
    if runtime.changes.ledger.since(to.turn):
        from tui_agent.ui.undoing import Choice, ask_and_undo
        from tui_agent.undo.plan import SinceTurn

        await ask_and_undo(app, [Choice("", "", SinceTurn(to.turn))])


async def model(app: TuiApp, words: str) -> None:
    """`/model`, `/model NAME`, `/model NAME EFFORT`."""
    runtime = idle(app, "change the model")
    if runtime is None:
        return
    if app.settings.demo:
        safe.notify(app.main, "The demo has one model, which is scripted.")
        return
    from tui_agent.agent import ModelChosen
    from tui_agent.session.choice import given
    from tui_agent.ui.screens.models import ModelChoice, ModelScreen

    settings = runtime.context.settings
    now = ModelChoice(settings.model, settings.effort, settings.thinking)
    name, _, effort = words.partition(" ")
    if effort and effort not in EFFORTS:
        efforts = ", ".join(EFFORTS)
        safe.notify(app.main, f"There is no effort {effort!r}. Efforts: {efforts}.", severity="warning")
        return
    chosen: ModelChoice | None = now._replace(name=name, effort=effort or now.effort)
    if not name:
        chosen = await app.push_screen_wait(ModelScreen(now, runtime.context.models))
    if chosen is None or chosen == now or idle(app, "change the model") is not runtime:
        return
    choice = ModelChosen(model=chosen.name, effort=chosen.effort, thinking=chosen.thinking)
    app.settings = given(app.settings, choice)
    await runtime.context.use(given(settings, choice))
    app.main.status_line.update(model=chosen.name)
    await app.turns.learn_window()
