"""The app with a real agent behind it and a model whose replies the test releases one by one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from grid import grid
from textual.pilot import Pilot

from tui_agent.agent import (
    Agent,
    AgentEvent,
    AgentTool,
    AssistantMessage,
    CancelSignal,
    MessageDone,
    ModelEvent,
    ModelRequest,
    NoteAdded,
    TextContent,
    TextDelta,
    ToolCall,
    TurnEnded,
    Usage,
)
from tui_agent.credentials import Credentials
from tui_agent.settings import Settings
from tui_agent.tools import Workspace
from tui_agent.tools.attachments import with_attachments
from tui_agent.tools.jobs import Jobs
from tui_agent.tools.own_command import run_own_command
from tui_agent.tools.run_command import Surroundings
from tui_agent.ui.app import TuiApp

Opener = Callable[..., Any]


class Model:
    """Answers with what `say` and `call` put in its mailbox, and waits while that is empty."""

    name = "scripted"

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self._mail: asyncio.Queue[ModelEvent | Exception] = asyncio.Queue()

    def say(self, text: str, *, done: bool = True) -> None:
        """Text, and with `done` the end of the reply."""
        self._mail.put_nowait(TextDelta(text=text))
        if done:
            self._end(AssistantMessage(content=(TextContent(text=text),), stop_reason="end_turn"))

    def call(self, name: str, id: str = "call", **arguments: Any) -> None:
        call = ToolCall(id=id, name=name, arguments=arguments)
        self._end(AssistantMessage(content=(call,), stop_reason="tool_use"))

    def fail(self, error: Exception) -> None:
        self._mail.put_nowait(error)

    def _end(self, message: AssistantMessage) -> None:
        usage = Usage(input_tokens=1200, output_tokens=34)
        self._mail.put_nowait(MessageDone(message=message.model_copy(update={"usage": usage})))

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        while True:
            event = await self._mail.get()
            if isinstance(event, Exception):
                raise event
            yield event
            if event.type == "message_done":
                return

    @property
    def prompts(self) -> list[str]:
        """The person's words, as the last request has them."""
        return [m.text for m in self.requests[-1].messages if m.role == "user" and m.text]


class Bench:
    """The parts that a runtime brings, without sessions."""

    notices: tuple[str, ...] = ()
    workspace: Workspace
    window: int | None = None

    def __init__(self, model: Model, tools: list[AgentTool], gate: Any, on_event: Any, mode: str) -> None:
        self.agent = Agent(model=model, tools=tools, gate=gate)
        self.model_name = model.name
        self.stored: list[AgentEvent] = []
        self.modes: list[str] = []
        self.policy = SimpleNamespace(mode=mode)
        self.closed = False
        self.warmed = False
        self._on_event = on_event

    async def prompt(self, content: Any, signal: CancelSignal) -> TurnEnded:
        return await self.agent.prompt(content, signal=signal, emit=self._on_event)

    async def go_on(self, signal: CancelSignal) -> TurnEnded:
        return await self.agent.go_on(signal=signal, emit=self._on_event)

    async def attach(self, text: str) -> Any:
        return await with_attachments(self.workspace, text)

    async def run_own(self, command: str, signal: CancelSignal, *, call_id: str, told: bool) -> None:
        around = Surroundings(self.workspace, Jobs())
        note = await run_own_command(around, command, signal, call_id, self._on_event, self.stored.append)
        if told:
            self.agent.note(note)

    def steer(self, content: Any) -> NoteAdded:
        return self.agent.steer(content)

    def unsteer(self, note: NoteAdded) -> bool:
        return self.agent.unsteer(note)

    def stop_call(self, call_id: str) -> bool:
        return self.agent.stop_call(call_id)

    def set_mode(self, mode: str) -> None:
        self.modes.append(mode)
        self.policy.mode = mode

    def replay(self) -> list[AgentEvent]:
        return self.stored

    async def warm(self) -> None:
        self.warmed = True

    async def learn_window(self) -> int | None:
        return self.window

    async def close(self) -> None:
        self.workspace.close()
        self.closed = True


class Host(TuiApp):
    """`hold` keeps the runtime from opening until it is set; `stored` are events of an earlier session."""

    def __init__(
        self,
        *tools: AgentTool,
        gate: Callable[[Any], Any] | None = None,
        stored: list[AgentEvent] | None = None,
        folder: Path = Path("/tmp"),
        key: str | None = "sk-ant-0123456789abcdef",
        **settings: Any,
    ) -> None:
        self.model = Model()
        self.hold = asyncio.Event()
        self.hold.set()
        self.asked_to_open = asyncio.Event()
        self.benches: list[Bench] = []
        self.open_error: Exception | None = None

        async def open_bench(app: TuiApp, settings: Settings, ask: Any, on_event: Any) -> Any:
            self.asked_to_open.set()
            await self.hold.wait()
            if self.open_error is not None:
                raise self.open_error
            bench = Bench(self.model, list(tools), gate(ask) if gate else None, on_event, settings.mode)
            bench.stored = stored or []
            bench.workspace = Workspace(settings.folder)
            self.benches.append(bench)
            return bench

        super().__init__(Settings(folder=folder, credentials=Credentials(key), **settings), opener=open_bench)

    @property
    def bench(self) -> Bench:
        return self.benches[-1]

    @property
    def text(self) -> str:
        """What is on the screen."""
        return grid(self).removesuffix("\n")

    @property
    def prompt_text(self) -> str:
        return self.main.prompt.text

    @property
    def status_row(self) -> str:
        return self.main.status_line.render().plain


async def armed(pilot: Pilot[Any]) -> None:
    """Wait until an answer to what is on the screen counts."""
    await pilot.pause()

    def counts() -> bool:
        arming = getattr(pilot.app.screen, "arming", None)
        return arming is None or arming.counts(time.monotonic())

    await until(pilot, counts)


async def until(pilot: Pilot[Any], condition: Callable[[], Any], seconds: float = 5.0) -> None:
    """Let the app work until `condition` holds."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, f"not within {seconds} s\n{pilot.app.screen}"
        await pilot.pause(0.01)


async def still(pilot: Pilot[Any]) -> None:
    """Wait until nothing moves on the screen any more."""
    seen: list[str] = []

    def same() -> bool:
        seen.append(grid(pilot.app))
        return len(seen) > 3 and len(set(seen[-3:])) == 1

    await until(pilot, same)
