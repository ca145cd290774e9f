"""The commands about the model and what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_agent.agent import ModelError
from tui_agent.session.choice import choice_of, given
from tui_agent.settings import EFFORTS
from tui_agent.text import one_line, visible

if TYPE_CHECKING:
    from tui_agent.models.catalogue import ModelInfo
    from tui_agent.plain.conversation import Conversation


async def context(here: Conversation, _: str) -> None:
    """`/context`."""
    contents = here.runtime.context.contents()
    filled, window = contents.filled, contents.window
    of = f" of {window:,}, {filled / window:.0%} of its window" if window else ""
    lines = [f"{one_line(here.runtime.model_name)} is given {filled:,} tokens{of}. Estimated parts:"]
    lines += [f"  {name}: {tokens:,}" for name, tokens in contents.parts if tokens]
    here.console.say("\n".join(lines))


async def compact(here: Conversation, focus: str) -> None:
    """`/compact [WHAT TO KEEP]`."""
    here.console.say("(Shortening the conversation …)")
    try:
        await here.runtime.context.compact(focus, here.signal)
    except ModelError as error:
        here.console.say(
            visible(f"The conversation was not shortened: {error.message}. {error.hint}".strip())
        )


async def model(here: Conversation, words: str) -> None:
    """`/model`, `/model NAME`, `/model NAME EFFORT`."""
    if here.settings.demo:
        here.console.say("The demo has one model, which is scripted.")
        return
    name, _, effort = words.partition(" ")
    if not name:
        await _list(here)
        return
    if effort and effort not in EFFORTS:
        here.console.say(f"There is no effort {one_line(effort)}. Efforts: {', '.join(EFFORTS)}.")
        return
    settings = here.runtime.context.settings
    choice = choice_of(settings).model_copy(update={"model": name, "effort": effort or settings.effort})
    here.settings = given(here.settings, choice)
    await here.runtime.context.use(given(settings, choice))
    here.console.say(f"From the next message on: {one_line(choice.words)}.")
    await here.signal.race(here.runtime.learn_window())


async def _list(here: Conversation) -> None:
    here.console.say(f"The model is {one_line(choice_of(here.runtime.context.settings).words)}.")
    models = await here.signal.race(here.runtime.context.models())
    lines = ["Its server offers:", *map(_described, models)] if models else ["Its server has no list."]
    here.console.say("\n".join([*lines, "/model NAME takes another one."]))


def _described(info: ModelInfo) -> str:
    name = f", {one_line(info.display_name)}" if info.display_name != info.id else ""
    window = f", window {info.window:,} tokens" if info.window else ""
    return f"  {one_line(info.id)}{name}{window}"
