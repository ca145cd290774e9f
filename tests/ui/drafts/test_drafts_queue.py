"""The queue beside the real controller of runs and a real agent: no message is lost, doubled or overtaken."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.agent import (
    Agent,
    AgentTool,
    AssistantMessage,
    CancelSignal,
    MessageDone,
    ModelError,
    ModelEvent,
    ModelRequest,
    NoteAdded,
    TextContent,
    TextDelta,
    ToolCall,
    TurnEnded,
)
from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.drafts.queue import Queue
from tui_agent.ui.messages import PromptReturned
from tui_agent.ui.turns import Turns


class Model:
    """One reply for each word in its mailbox."""

    name = "scripted"

    def __init__(self) -> None:
        self.mail: asyncio.Queue[str] = asyncio.Queue()
        self.calls = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        match await self.mail.get():
            case "text":
                yield TextDelta(text="some ")
                await asyncio.sleep(0)
                message = AssistantMessage(content=(TextContent(text="some text"),), stop_reason="end_turn")
                yield MessageDone(message=message)
            case "tools":
                self.calls += 2
                calls = tuple(ToolCall(id=f"c{self.calls + n}", name="wait", arguments={}) for n in range(2))
                yield MessageDone(message=AssistantMessage(content=calls, stop_reason="tool_use"))
            case "fail":
                raise ModelError("no")


class Wait(AgentTool):
    name = "wait"
    description = "Takes a few turns of the loop."
    parameters = {"type": "object"}  # noqa: RUF012

    async def execute(self, parameters: Any, signal: CancelSignal) -> str:
        for _ in range(5):
            signal.raise_if_cancelled()
            await asyncio.sleep(0)
        return "waited"


class Runtime:
    def __init__(self, model: Model, emit: Any) -> None:
        self.agent = Agent(model=model, tools=[Wait()])
        self._emit = emit
        self.steer = self.agent.steer
        self.unsteer = self.agent.unsteer

    async def emit(self, event: Any) -> None:
        await asyncio.sleep(0)  # as a session that waits for its disk
        await self._emit(event)

    async def prompt(self, content: Any, signal: CancelSignal) -> TurnEnded:
        return await self.agent.prompt(content, signal=signal, emit=self.emit)

    async def go_on(self, signal: CancelSignal) -> TurnEnded:
        return await self.agent.go_on(signal=signal, emit=self.emit)

    async def attach(self, text: str) -> Any:
        for _ in range(int(text[-1]) % 3):
            await asyncio.sleep(0)
        return text

    async def warm(self) -> None:
        """Nothing to load."""

    async def learn_window(self) -> None:
        """Nobody knows."""


class Desk:
    def __init__(self) -> None:
        self.returned: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def post_message(self, message: Any) -> bool:
        if isinstance(message, PromptReturned):
            self.returned += message.draft.whole.split("\n\n")
        return True

    def run_worker(self, work: Coroutine[Any, Any, None], **_: Any) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


STEPS = st.one_of(
    st.just(("send", 0)),
    st.just(("send", 0)),
    st.tuples(st.sampled_from(["edit", "delete", "up", "down", "turn"]), st.integers(0, 3)),
    st.just(("cancel", 0)),
    st.tuples(st.sampled_from(["text", "tools", "fail"]), st.just(0)),
    st.tuples(st.just("wait"), st.integers(1, 12)),
)


class World:
    def __init__(self) -> None:
        self.desk, self.model = Desk(), Model()
        self.sent: list[str] = []
        self.gone: list[str] = []
        self.turns = Turns(self.desk, None, self._open)  # type: ignore[arg-type]
        self.runtime: Runtime

    async def _open(self, settings: Any, ask: Any, emit: Any) -> Any:
        self.runtime = Runtime(self.model, emit)
        return self.runtime

    async def do(self, step: str, number: int) -> None:
        queue = self.turns.queue
        item = queue.items[number % len(queue)] if len(queue) else None
        match step:
            case "send":
                self.sent.append(f"message {len(self.sent)}")
                self.turns.send(Draft(self.sent[-1]))
            case "cancel":
                self.turns.cancel()
            case "wait":
                for _ in range(number):
                    await asyncio.sleep(0)
            case "text" | "tools" | "fail":
                self.model.mail.put_nowait(step)
            case "edit" if item is not None:
                if (draft := queue.take(item)) is not None:
                    self.turns.send(draft)
            case "delete" if item is not None:
                if queue.delete(item):
                    self.gone.append(item.draft.text)
            case "up" | "down" if item is not None:
                queue.move(item, -1 if step == "up" else 1)
            case "turn" if item is not None:
                queue.wait_for(item, "after" if item.when == "now" else "now")

    async def settle(self) -> None:
        async with asyncio.timeout(10):
            while self.turns.run is not None:
                self.model.mail.put_nowait("text")
                await asyncio.sleep(0)

    @property
    def delivered(self) -> list[str]:
        texts = [message.text for message in self.runtime.agent.messages if message.role == "user"]
        return [
            word for text in texts for word in text.replace("\n\n", "\n").split("\n") if word in self.sent
        ]


async def live_through(steps: list[tuple[str, int]]) -> World:
    world = World()
    world.turns.open(None)  # type: ignore[arg-type]
    for step, number in steps:
        await world.do(step, number)
    await world.settle()
    return world


@given(st.lists(STEPS, max_size=40))
@settings(max_examples=250, deadline=None)
def test_each_message_ends_in_exactly_one_place(steps: list[tuple[str, int]]) -> None:
    world = asyncio.run(live_through(steps))
    assert len(world.turns.queue) == 0
    ends = Counter([*world.delivered, *world.desk.returned, *world.gone])
    assert ends == Counter(world.sent)


@given(st.lists(st.sampled_from([("send", 0), ("wait", 3), ("tools", 0), ("text", 0)]), max_size=30))
@settings(max_examples=100, deadline=None)
def test_nobody_overtakes_when_nothing_is_moved_or_stopped(steps: list[tuple[str, int]]) -> None:
    world = asyncio.run(live_through(steps))
    assert world.delivered == world.sent


class Inbox:
    """An agent that delivers when the test says so."""

    def __init__(self) -> None:
        self.notes: list[NoteAdded] = []

    def steer(self, content: Any) -> NoteAdded:
        self.notes.append(NoteAdded(content=(TextContent(text=content),), by="user"))
        return self.notes[-1]

    def unsteer(self, note: NoteAdded) -> bool:
        for place, waiting in enumerate(self.notes):
            if waiting is note:
                del self.notes[place]
                return True
        return False

    @property
    def texts(self) -> list[str]:
        return [block.text for note in self.notes for block in note.content if block.type == "text"]


def filled(*texts: str) -> tuple[Queue, Inbox]:
    queue, inbox = Queue(lambda: None), Inbox()
    queue.open(inbox)
    for text in texts:
        queue.add(Draft(text))
    for item in queue.items:
        queue.prepared(item, item.draft.text)
    return queue, inbox


def test_an_edited_message_comes_back_to_its_place() -> None:
    queue, inbox = filled("a", "b", "c")
    assert queue.take(queue.items[1]) == Draft("b")
    assert inbox.texts == ["a", "c"]
    queue.add(Draft("B"))
    assert [item.draft.text for item in queue.items] == ["a", "B", "c"]
    assert inbox.texts == ["a"]  # what follows waits until its attachments are read
    queue.prepared(queue.items[1], "B")
    assert inbox.texts == ["a", "B", "c"]


def test_moving_and_waiting_change_what_the_agent_gets() -> None:
    queue, inbox = filled("a", "b", "c")
    queue.move(queue.items[2], -2)
    assert inbox.texts == ["c", "a", "b"]
    queue.wait_for(queue.items[0], "after")
    assert inbox.texts == ["a", "b"]
    assert queue.next_after() == Draft("c")
    assert queue.next_after() is None


def test_what_is_being_delivered_can_not_be_changed_any_more() -> None:
    queue, inbox = filled("a", "b")
    item = queue.items[0]
    taken = inbox.notes.pop(0)
    assert queue.take(item) is None
    assert not queue.delete(item)
    queue.move(item, 1)
    queue.told(taken)
    assert [left.draft.text for left in queue.items] == ["b"]
    assert inbox.texts == ["b"]


def test_a_delivery_that_a_cancel_undid_is_given_back_first() -> None:
    queue, inbox = filled("a", "b")
    taken = inbox.notes.pop(0)
    queue.told(taken)
    inbox.notes.insert(0, taken)  # the prompt left nothing, so its notes wait again
    assert queue.reclaim() == [Draft("a"), Draft("b")]
    assert inbox.notes == []
