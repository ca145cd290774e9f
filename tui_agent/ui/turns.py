"""The controller of runs: one at a time, each with a signal of its own.

A prompt becomes a worker that waits for the runtime (opened after the first paint) and hands it the prompt;
events come back through `_feed` as messages to the screen. What is entered during a run steers it: it waits
in `queue` until the agent delivers it with its next message, and if the run ends before that, another run
brings it. `cancel()` may come at any moment: before the runtime is there the run is simply dropped,
afterwards its signal is set, and the run ends when its tools have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from textual.message import Message
from textual.worker import Worker

from tui_agent.ui.messages import (
    AgentEvents,
    Failed,
    PromptReturned,
    RuntimeOpened,
    TurnsChanged,
)

if TYPE_CHECKING:
    from tui_agent.agent import AgentEvent, Allow, CancelSignal, Deny
    from tui_agent.permissions.broker import Question
    from tui_agent.runtime import Runtime
    from tui_agent.settings import Settings

    Ask = Callable[[Sequence[Question], CancelSignal], Awaitable[Sequence[Allow | Deny]]]
    OnEvent = Callable[[AgentEvent], Awaitable[None]]
    Opener = Callable[[Settings, Ask, OnEvent], Awaitable[Runtime]]

CLOSING = 2.0
"""Seconds that a cancelled run gets to end when the program quits."""


class Desk(Protocol):
    """The screen that runs are worked on."""

    def post_message(self, message: Message) -> bool: ...
    def run_worker(self, work: Any, /, *, group: str, exit_on_error: bool) -> Worker[None]: ...


@dataclass
class Run:
    """`text` is the prompt, None to go on without one. Without `signal` it still waits for the runtime."""

    text: str | None
    signal: CancelSignal | None = None
    stopping: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Turns:
    def __init__(self, desk: Desk, ask: Ask, opener: Opener) -> None:
        self.runtime: Runtime | None = None
        self.run: Run | None = None
        self.queue: list[str] = []
        self._desk = desk
        self._ask = ask
        self._opener = opener
        self._opened = asyncio.Event()  # set when opening is over, well or badly
        self._working: Worker[None] | None = None

    @property
    def opening(self) -> bool:
        return not self._opened.is_set()

    def open(self, settings: Settings) -> None:
        """Open the runtime in the background; prompts may come meanwhile."""
        self._opened.clear()
        self._desk.run_worker(self._open(settings), group="open", exit_on_error=False)

    async def _open(self, settings: Settings) -> None:
        try:
            self.runtime = await self._opener(settings, self._ask, self._feed)
        except Exception as error:
            self._desk.post_message(Failed(str(error) or type(error).__name__, getattr(error, "hint", "")))
            return
        finally:
            self._opened.set()
            self._changed()
        self._desk.post_message(RuntimeOpened())
        await self.runtime.warm()

    def send(self, text: str) -> None:
        """Start a run with `text`, or steer the present one with it."""
        run = self.run
        if run is None:
            self._start(Run(text))
        elif run.signal is None or self.runtime is None:
            run.text = f"{run.text}\n\n{text}" if run.text else text  # nothing was sent yet
        else:
            self.queue.append(text)
            self.runtime.steer(text)
            self._changed()

    def go_on(self) -> bool:
        """Go on after a limit or an error. False while a run is on."""
        if self.run is None:
            self._start(Run(None))
            return True
        return False

    def cancel(self) -> bool:
        """Stop the run. A second call while it is stopping changes nothing; False when there is none."""
        run = self.run
        if run is None:
            return False
        if not run.stopping:
            run.stopping = True
            if run.signal is not None:
                run.signal.cancel("user")
            elif self._working is not None:
                self._working.cancel()
            self._changed()
        return True

    def stop_call(self, call_id: str) -> bool:
        return self.runtime is not None and self.runtime.stop_call(call_id)

    async def close(self) -> None:
        """End the run and the runtime."""
        self.queue.clear()
        if (run := self.run) is not None:
            self.cancel()
            with suppress(TimeoutError):
                await asyncio.wait_for(run.ended.wait(), CLOSING)
        if self.runtime is not None:
            runtime, self.runtime = self.runtime, None
            await runtime.close()

    def _start(self, run: Run) -> None:
        self.run = run
        self._working = self._desk.run_worker(self._work(run), group="run", exit_on_error=False)
        self._changed()

    async def _work(self, run: Run) -> None:
        try:
            await self._do(run)
        except asyncio.CancelledError:
            self._give_back(run)
            raise
        except Exception as error:
            self._give_back(run)
            self._desk.post_message(Failed(f"{type(error).__name__}: {error}"))
        finally:
            self.run = None
            run.ended.set()
            self._changed()
            self._next(run)

    async def _do(self, run: Run) -> None:
        await self._opened.wait()
        if self.runtime is None:
            self._give_back(run)  # why it could not be opened has been said
            return
        from tui_agent.agent import CancelSignal

        run.signal = CancelSignal()
        if run.text is None:
            await self.runtime.go_on(run.signal)
        else:
            await self.runtime.prompt(run.text, run.signal)

    def _next(self, ended: Run) -> None:
        """Bring what the ended run did not deliver, unless the person stopped it: then it waits."""
        if self.queue and ended.signal is not None and not ended.stopping:
            self._start(Run(None))

    def _give_back(self, run: Run) -> None:
        if run.text is not None:
            self._desk.post_message(PromptReturned(run.text))

    @property
    def _feed(self) -> OnEvent:
        waiting: list[AgentEvent] = []

        async def feed(event: AgentEvent) -> None:
            self._note(event)
            waiting.append(event)
            if len(waiting) == 1:
                self._desk.post_message(AgentEvents(waiting))

        return feed

    def _note(self, event: AgentEvent) -> None:
        if event.type == "history_rewritten" and self.run is not None and self.run.stopping and event.dropped:
            self._give_back(self.run)  # the cancelled prompt left nothing, so it was dropped
        elif event.type == "note_added" and event.by == "user" and self.queue:
            self.queue.pop(0)
            self._changed()

    def _changed(self) -> None:
        self._desk.post_message(TurnsChanged())
