"""Asking the person: `ask` shows one screen for each kind of question and returns the typed answers.

A set of file changes is one review; a command, or any other call, has a screen to itself. Whatever happens,
no screen stays behind: when the run is cancelled, from here or from elsewhere, it is taken down.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from tui_agent.ui.screens.answering import AnswerScreen

if TYPE_CHECKING:
    from textual.app import App

    from tui_agent.agent import Allow, CancelSignal, Deny, Pending, Proposal
    from tui_agent.permissions.broker import Question
    from tui_agent.ui.screens.answering import Outcome
    from tui_agent.ui.screens.offered_rule import OnGrant

Stale = Callable[["Pending"], Awaitable["Proposal | None"]]
"""What a pending change would be now, if its file is another one than was shown."""


async def prepared_again(pending: Pending) -> Proposal | None:
    """What the call would do now; None when it can't do it any more, which its own run will say."""
    from tui_agent.agent import CancelSignal, validate_tool_arguments
    from tui_agent.agent.calling import call

    try:
        parameters = validate_tool_arguments(pending.tool, pending.call.arguments)
        proposal = await call(pending.tool.prepare, parameters, CancelSignal())
    except Exception:  # an embedder's tool may raise anything; the question stands as it was
        return None
    return cast("Proposal", proposal)


async def ask(
    app: App[Any],
    questions: Sequence[Question],
    signal: CancelSignal,
    *,
    on_grant: OnGrant,
    give_back: Callable[[str], None] | None = None,
    stale: Stale = prepared_again,
) -> Sequence[Allow | Deny]:
    """One answer for each question, in order. Escape sets `signal`; `Cancelled` is raised once it is set.

    `give_back` gets what was typed for the prompt when the question came; `stale` is asked now and then
    while a change is under review.
    """
    from tui_agent.agent import Cancelled

    answers: list[Allow | Deny] = []
    for group in _together(questions):
        screen = _screen(group, on_grant, give_back or (lambda text: None), stale)
        outcome = await signal.race(_shown(app, screen))
        if outcome is None:
            signal.cancel("user")
            raise Cancelled("user")
        answers += outcome
    return answers


async def _shown(app: App[Any], screen: AnswerScreen) -> Outcome:
    answered: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    def settle(outcome: Outcome) -> None:
        if not answered.done():
            answered.set_result(outcome)

    try:
        await app.push_screen(screen, settle)
        return await answered
    finally:
        _take_down(app, screen)


def _take_down(app: App[Any], screen: AnswerScreen) -> None:
    screen.give_back_typed()
    if app.screen_stack and app.screen is screen:
        app.pop_screen()
    elif screen in app.screen_stack:
        # Another screen lies over it, and is the person's: only ours goes.
        app._screen_stack.remove(screen)
        screen.remove()


def _together(questions: Sequence[Question]) -> Iterator[list[Question]]:
    """Neighbouring file changes are one set."""
    for are_changes, group in groupby(questions, _is_change):
        if are_changes:
            yield list(group)
        else:
            yield from ([question] for question in group)


def _is_change(question: Question) -> bool:
    from tui_agent.tools.details import FileChange

    return isinstance(question.pending.proposal.details, FileChange)


def _screen(
    group: list[Question], on_grant: OnGrant, give_back: Callable[[str], None], stale: Stale
) -> AnswerScreen:
    if _is_change(group[0]):
        from tui_agent.ui.screens.review import ReviewScreen

        return ReviewScreen(group, on_grant, give_back, stale)
    from tui_agent.ui.screens.call_approval import CallApproval

    return CallApproval(group[0], on_grant, give_back)
