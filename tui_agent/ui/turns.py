"""The controller of runs: one at a time, each with a signal of its own.

A prompt becomes a worker that waits for the runtime (opened after the first paint) and hands it the prompt;
events come back through `_feed` as messages to the screen. What is entered during a run waits in `queue`:
the agent delivers it with its next message, or, if the run ends by itself before that, another run brings
it. `cancel()` may come at any moment: before the runtime is there the run is simply dropped, afterwards its
signal is set, and the run ends when its tools have. What a stopped or failed run did not deliver comes back
to the prompt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from textual.message import Message
from textual.worker import Worker

from tui_agent.ui.drafts.draft import Draft, joined
from tui_agent.ui.drafts.queue import Queue, Queued
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
    Work = Callable[[Runtime, CancelSignal], Awaitable[None]]

CLOSING = 2.0
"""Seconds that a cancelled run gets to end when the program quits."""


class Desk(Protocol):
    """The screen that runs are worked on."""

    def post_message(self, message: Message) -> bool: ...
    def run_worker(self, work: Any, /, *, group: str, exit_on_error: bool) -> Worker[None]: ...


@dataclass
class Run:
    """`draft` is the prompt, None to go on without one. Without `signal` it still waits for the runtime.

    With `work` it is no turn of the model's but something else that takes its time and can be stopped.
    `unanswered` drafts go back to the person when it is over.
    """

    draft: Draft | None
    work: Work | None = None
    signal: CancelSignal | None = None
    stopping: bool = False
    failed: bool = False
    unanswered: list[Draft] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Turns:
    def __init__(self, desk: Desk, ask: Ask, opener: Opener) -> None:
        self.runtime: Runtime | None = None
        self.run: Run | None = None
        self.window: int | None = None
        self.queue = Queue(self._changed)
        self._desk = desk
        self._ask = ask
        self._opener = opener
        self._opened = asyncio.Event()  # set when opening is over, well or badly

    @property
    def opening(self) -> bool:
        return not self._opened.is_set()

    @property
    def unsent(self) -> Draft | None:
        """What waits for the runtime to open."""
        return self.run.draft if self.run is not None and self.opening else None

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
        await self.learn_window()

    async def learn_window(self) -> None:
        """`window` is how many tokens the model can take in, as soon as that is known."""
        self.window = None
        if self.runtime is not None:
            self.window = await self.runtime.learn_window()
            self._changed()

    async def opened(self) -> Runtime | None:
        """The runtime, once opening is over; None if it could not be opened."""
        await self._opened.wait()
        return self.runtime

    def send(self, draft: Draft) -> None:
        """Start a run with `draft`, or let it wait for the present one."""
        run = self.run
        if run is None:
            self._start(Run(draft))
        elif run.signal is None or self.runtime is None:
            run.draft = joined([run.draft, draft]) if run.draft else draft  # nothing was sent yet
            self._changed()
        else:
            item = self.queue.add(draft)
            self._desk.run_worker(self._read(item), group="read", exit_on_error=False)

    async def _read(self, item: Queued) -> None:
        """Read the attachments of a message that waits."""
        if self.runtime is not None:
            self.queue.prepared(item, await self.runtime.attach(item.draft.whole))

    def go_on(self) -> bool:
        """Go on after a limit or an error. False while a run is on."""
        if self.run is None:
            self._start(Run(None))
            return True
        return False

    def do(self, work: Work) -> bool:
        """Do something in the place of a turn. False while a run is on."""
        if self.run is None:
            self._start(Run(None, work))
            return True
        return False

    def cancel(self) -> bool:
        """Stop the run. A second call while it is stopping changes nothing; False when there is none."""
        run = self.run
        if run is None:
            return False
        if not run.stopping:
            run.stopping = True
            run.stopped.set()
            if run.signal is not None:
                run.signal.cancel("user")
            self._changed()
        return True

    def stop_call(self, call_id: str) -> bool:
        return self.runtime is not None and self.runtime.stop_call(call_id)

    async def close(self) -> None:
        """End the run and the runtime."""
        self._give_back(self.queue.reclaim())
        if (run := self.run) is not None:
            self.cancel()
            with suppress(TimeoutError):
                await asyncio.wait_for(run.ended.wait(), CLOSING)
        if self.runtime is not None:
            runtime, self.runtime = self.runtime, None
            await runtime.close()

    def _start(self, run: Run) -> None:
        self.run = run
        self._desk.run_worker(self._work(run), group="run", exit_on_error=False)
        self._changed()

    async def _work(self, run: Run) -> None:
        try:
            await self._do(run)
        except asyncio.CancelledError:
            self._unanswered(run)
            raise
        except Exception as error:
            self._unanswered(run)
            self._desk.post_message(Failed(f"{type(error).__name__}: {error}"))
        finally:
            self.run = None
            run.ended.set()
            self._changed()
            self._next(run)

    async def _do(self, run: Run) -> None:
        await _first_of(self._opened, run.stopped)
        if self.runtime is None or run.stopping:
            self._unanswered(run)  # why it could not be opened has been said
            return
        from tui_agent.agent import Cancelled, CancelSignal

        run.signal = CancelSignal()
        if run.work is not None:
            await run.work(self.runtime, run.signal)
            return
        if run.draft is None:
            ended = await self.runtime.go_on(run.signal)
        else:
            try:
                content = await run.signal.race(self.runtime.attach(run.draft.whole))
            except Cancelled:
                self._unanswered(run)
                return
            ended = await self.runtime.prompt(content, run.signal)
        run.failed = ended.stop_reason == "error"

    def _next(self, ended: Run) -> None:
        """Bring what the ended run did not deliver, or, if it was stopped or failed, give it back."""
        badly = ended.stopping or ended.failed
        undelivered = self.queue.reclaim() if badly else self.queue.reclaim(["now"])
        self.queue.close()
        if badly:
            self._give_back([*ended.unanswered, *undelivered])
        elif undelivered:
            self._start(Run(joined(undelivered)))
        elif after := self.queue.next_after():
            self._start(Run(after))

    def _unanswered(self, run: Run) -> None:
        """Its prompt has left nothing in the conversation."""
        run.failed = True
        if run.draft is not None:
            run.unanswered.append(run.draft)

    def _give_back(self, drafts: Sequence[Draft]) -> None:
        if drafts:
            self._desk.post_message(PromptReturned(joined(drafts)))

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
            self._unanswered(self.run)  # the cancelled prompt left nothing, so it was dropped
        elif event.type == "turn_started" and self.runtime is not None:
            self.queue.open(self.runtime)
        elif event.type == "note_added" and event.by == "user":
            self.queue.told(event)

    def _changed(self) -> None:
        self._desk.post_message(TurnsChanged())


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of them is set."""
    waiting = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for future in waiting:
            future.cancel()
