"""Questions of a run, brought before the person one set at a time.

A question waits while another dialog is open: closing that is the person's, and it must not be answered by
a key that was meant for something else. Meanwhile a toast and the status line say that something waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui_agent.ui import safe

if TYPE_CHECKING:
    from tui_agent.agent import Allow, CancelSignal, Deny
    from tui_agent.permissions.broker import Question
    from tui_agent.permissions.policy import Scope
    from tui_agent.ui.app import TuiApp
    from tui_agent.ui.screens.offered_rule import Covers


class Asker:
    def __init__(self, app: TuiApp) -> None:
        self._app = app

    async def __call__(self, questions: Sequence[Question], signal: CancelSignal) -> Sequence[Allow | Deny]:
        from tui_agent.agent import Cancelled
        from tui_agent.ui.screens.approval import ask

        app = self._app
        app.attention.call("A call waits for your answer.")
        if not app.main.uncovered.is_set():
            app.notify("A call waits for your answer. Close this to see it.", markup=False)
            await signal.race(app.main.uncovered.wait())
        try:
            return await ask(app, questions, signal, on_grant=self._grant, give_back=app.main.prompt.type_in)
        except Cancelled:
            app.turns.cancel()  # Escape there stops the run, not only the call
            raise

    def _grant(self, rule: str, scope: Scope) -> Covers:
        from tui_agent.permissions.state_file import StateFileError

        runtime = self._app.turns.runtime
        if runtime is None:
            raise ValueError("The session is not open any more.")
        try:
            runtime.policy.grant(rule, scope)
        except StateFileError as error:
            safe.notify(
                self._app.screen, f"The rule holds for this session only: {error}", severity="warning"
            )
        return lambda question: runtime.policy.decide(question.pending).verdict == "allow"
