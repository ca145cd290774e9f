"""Commands of the person's own: `!make test` runs it and tells the model with the next message, `!!` doesn't.

They run beside a turn or without one. Escape ends them all, `x` in the tool log the one under the cursor.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

from tui_agent.ui.messages import Failed

if TYPE_CHECKING:
    from tui_agent.agent import CancelSignal
    from tui_agent.ui.drafts.draft import Draft
    from tui_agent.ui.turns import Desk, Turns


class Own(NamedTuple):
    command: str
    told: bool
    """Whether the model gets to know."""


def find(draft: Draft) -> Own | None:
    """The command that a draft calls, None if it is a prompt: the mark is typed, never folded in a paste."""
    if not draft.text.startswith("!"):
        return None
    text = draft.whole
    told = not text.startswith("!!")
    command = text.removeprefix("!" if told else "!!").strip()
    return Own(command, told) if command else None


class OwnCommands:
    def __init__(self, desk: Desk, turns: Turns) -> None:
        self._desk = desk
        self._turns = turns
        self._running: dict[str, CancelSignal] = {}

    @property
    def running(self) -> int:
        return len(self._running)

    def start(self, own: Own) -> None:
        self._desk.run_worker(self._run(own), group="own", exit_on_error=False)

    def stop(self) -> bool:
        """End all of them; False if there is none."""
        for call_id in self._running:
            self.stop_call(call_id)
        return bool(self._running)

    def stop_call(self, call_id: str) -> bool:
        signal = self._running.get(call_id)
        if signal is not None:
            signal.cancel("user")
        return signal is not None

    async def _run(self, own: Own) -> None:
        runtime = await self._turns.opened()
        if runtime is None:
            return  # why has been said
        from tui_agent.agent import CancelSignal

        call_id = f"own-{secrets.token_hex(6)}"
        signal = self._running[call_id] = CancelSignal()
        try:
            await runtime.run_own(own.command, signal, call_id=call_id, told=own.told)
        except Exception as error:
            self._desk.post_message(Failed(f"The command could not be run: {error}"))
        finally:
            del self._running[call_id]
