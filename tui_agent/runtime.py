"""The one place that wires the parts together: a folder, its tools, a model, rules, a session.

    runtime = await Runtime.open(settings, ask=…, on_event=…)
    ended = await runtime.prompt("…", signal)
    await runtime.close()

Every event of a run goes the same way: into the session first, then to `on_event`. What the agent library
does not know is added here: live output of commands (`ToolProgress`) and files that changed (`FileChanged`).
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tui_agent import __version__, paths
from tui_agent.agent import (
    Agent,
    AgentEvent,
    AgentTool,
    ApprovalRequested,
    CancelSignal,
    FileChanged,
    NoteAdded,
    Pending,
    SessionStarted,
    ToolError,
    TurnEnded,
)
from tui_agent.agent.calling import in_thread
from tui_agent.agent.events import FLEETING, Emit
from tui_agent.agent.history import History
from tui_agent.agent.messages import Prompt
from tui_agent.branch import branch_of
from tui_agent.context import Context
from tui_agent.discreet import DiscreetTool, without
from tui_agent.live_output import LiveOutput
from tui_agent.parts import going_on, idle_rules, model_for, policy_for, sandbox_for, session_for
from tui_agent.permissions.broker import Ask, Broker
from tui_agent.permissions.decided import decided_in
from tui_agent.permissions.gate import PolicyGate
from tui_agent.permissions.modes import Mode
from tui_agent.permissions.policy import Policy
from tui_agent.permissions.sandbox import Sandbox
from tui_agent.permissions.trust import INSTRUCTIONS, SETTINGS, ProjectFile, project_files, trusted
from tui_agent.permissions.witness import Witness
from tui_agent.session.declarations import as_declared, declared
from tui_agent.session.store import SessionStore
from tui_agent.settings import NO_KEY, Settings, SettingsError, project_values
from tui_agent.system import system_prompt
from tui_agent.tools import Workspace, coding_tools
from tui_agent.tools.jobs import Jobs
from tui_agent.tools.process import kill_all
from tui_agent.tools.seen import seen_in
from tui_agent.tools.sweep import sweep
from tui_agent.undo.changes import Changes
from tui_agent.undo.plan import Plan


class Runtime:
    """An open working folder with its agent, made by `open`.

    `notices` collects what the person should be told beside the events, until someone shows it.
    `unanswered` has the calls that needed an approval when nobody was there to give it.
    """

    def __init__(self, settings: Settings, session: SessionStore, policy: Policy, on_event: Emit) -> None:
        self.settings = settings
        self.session = session
        self.policy = policy
        self.unanswered: list[Pending] = []
        self.jobs = Jobs()
        self.agent: Agent
        self.workspace: Workspace
        self.changes: Changes
        self.context: Context
        self.events: list[AgentEvent] = [*session.events]
        self._sandbox: Sandbox | None = None
        self._on_event = on_event
        self._loop = asyncio.get_running_loop()
        self._live = LiveOutput(on_event)
        self._reading: set[str] = set()
        self._sweeping: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls, settings: Settings, *, ask: Ask | None = None, on_event: Emit | None = None
    ) -> Runtime:
        """Raises `SettingsError` or `SessionError`, whose words are for the person."""
        if not settings.can_ask_a_model:
            raise SettingsError(NO_KEY)
        folder = settings.folder
        files = project_files(folder) if trusted(folder, paths.state_folder()) else ()
        for file in files:
            if file.name == SETTINGS:
                settings = settings.tightened(project_values(folder / SETTINGS, file.text))
        policy = policy_for(settings)
        session = await in_thread(session_for, settings)
        try:
            settings = await in_thread(going_on, settings, session)
            runtime = cls(settings, session, policy, on_event or _nowhere)
            await runtime._build(ask, files)
        except BaseException:
            session.close()
            raise
        return runtime

    async def _build(self, ask: Ask | None, files: Sequence[ProjectFile]) -> None:
        model = model_for(self.settings)
        if self.settings.sandbox:
            self._sandbox = await in_thread(sandbox_for, self.settings)
        workspace = self.workspace = Workspace(self.folder)
        workspace.may_read = lambda path: not self.policy.denies(path)
        workspace.hides = self.policy.hides
        workspace.seen.update(seen_in(self.session.events))
        keys = self.settings.credentials
        self.changes = Changes(workspace, self.session.place, self._notify, secret=keys.are_in)
        for event in self.session.events:
            self.changes.apply(event)
        self.policy.recall(decided_in(self.session.events))
        tools: Sequence[AgentTool] = self.changes.watched(
            coding_tools(
                workspace,
                on_output=self._live,
                jobs=self.jobs,
                spill_folder=self.session.place / "output",
                wrap=self._sandbox.wrap if self._sandbox else None,
                sandbox=self._sandbox.words if self._sandbox else "",
                env_pass=self.settings.env_pass,
                scrub=keys.redact_bytes,
            )
        )
        for words in idle_rules(self.policy, tools):
            self._notify(words)
        if keys:
            tools = [DiscreetTool(tool, keys.redact) for tool in tools]
        started = next((e for e in self.session.events if e.type == "session_started"), None)
        if started is not None:
            tools = as_declared(tools, started)
        else:
            started = SessionStarted(
                system=system_prompt(
                    self.folder, [(file.name, file.text) for file in files if file.name in INSTRUCTIONS]
                ),
                tools=tuple(declared(tool) for tool in tools),
                model=model.name,
                version=__version__,
            )
            await self._emit(started)
        self.agent = Agent(
            model=model,
            tools=tools,
            system=started.system,
            gate=Witness(PolicyGate(self.policy, Broker(ask, on_request=self._requested)), self.unanswered),
            max_steps=self.settings.max_steps,
            max_tokens_total=self.settings.max_tokens_total,
            messages=await in_thread(History.replay, self.session.events),
        )
        self.context = Context(
            self.agent, self.settings, self.events, self._emit, self.changes.told, self._notify
        )

    @property
    def folder(self) -> Path:
        return self.settings.folder

    @property
    def branch(self) -> str | None:
        return branch_of(self.folder)

    @property
    def model_name(self) -> str:
        return self.agent.model.name

    @property
    def notices(self) -> list[str]:
        return self.session.notices

    def _notify(self, text: str) -> None:
        self.session.notify(text)

    def replay(self) -> Sequence[AgentEvent]:
        """The stored events of a continued session, for the panes; those of this run are not among them."""
        return self.session.events

    async def warm(self) -> None:
        """Load what the first request needs, off the loop; from then on memory is collected as usual.

        The start-up leaves the collector off: what it makes stays for good, and is never looked at again.
        """
        if load := getattr(self.agent.model, "warm", None):
            await in_thread(load)
        gc.freeze()
        gc.enable()
        self._sweeping = asyncio.create_task(self._sweep())

    async def _sweep(self) -> None:
        """Remove what killed writers left in the folder."""
        with suppress(OSError, ToolError):
            await in_thread(sweep, self.workspace)

    async def learn_window(self) -> int | None:
        """How much the model can take in. Asks its server; until it answers no window is too small."""
        await self.context.learn_window()
        return self.context.window

    async def prompt(self, content: Prompt, signal: CancelSignal | None = None) -> TurnEnded:
        self.policy.new_turn()
        self._tell_undone()
        return await self.agent.prompt(content, signal=signal, emit=self._emit)

    async def go_on(self, signal: CancelSignal | None = None) -> TurnEnded:
        self._tell_undone()
        return await self.agent.go_on(signal=signal, emit=self._emit)

    async def attach(self, text: str) -> Prompt:
        """The person's words with what they mention: files, folders, pictures."""
        from tui_agent.tools.attachments import with_attachments

        blocks = await with_attachments(self.workspace, text)
        return without(blocks, self.settings.credentials.redact)

    def steer(self, content: Prompt) -> NoteAdded:
        return self.agent.steer(content)

    def unsteer(self, note: NoteAdded) -> bool:
        return self.agent.unsteer(note)

    async def run_own(self, command: str, signal: CancelSignal, *, call_id: str, told: bool) -> None:
        """Run a command of the person's own; `told`: the model hears of it with the next message."""
        from tui_agent.tools.own_command import run_own_command
        from tui_agent.tools.run_command import Surroundings

        spill = self.session.place / "output"
        keys = self.settings.credentials
        around = Surroundings(
            self.workspace,
            self.jobs,
            spill_folder=spill,
            env_pass=self.settings.env_pass,
            scrub=keys.redact_bytes,
        )
        note = await run_own_command(around, command, signal, call_id, self._on_event, self.session.append)
        if told:
            self.agent.note(keys.redact(note))

    def stop_call(self, call_id: str, reason: str = "user") -> bool:
        return self.agent.stop_call(call_id, reason)

    def set_mode(self, mode: str) -> Mode:
        """Another mode from now on; the model is told with the next message."""
        new = Mode(mode)
        if new is not self.policy.mode:
            self.policy.mode = new
            self.agent.note(new.note)
        return new

    async def undo(self, plan: Plan) -> str:
        """Take changes back, all of the plan or nothing (`UndoError`); returns the id of this undo.

        The model is told with the next prompt.
        """
        changed: list[FileChanged] = await in_thread(self.changes.carry_out, plan)
        for event in changed:
            await self._emit(event)
        return changed[0].call_id or ""

    def _tell_undone(self) -> None:
        if note := self.changes.untold():
            self.agent.note(note)

    async def close(self) -> None:
        """End every command and let the session go. The run should have ended before."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        await in_thread(kill_all)
        self._tidy()
        if close := getattr(self.agent.model, "close", None):
            await close()
        self._live.drop()
        await in_thread(self.session.sync)
        self.session.close()
        self.workspace.close()

    # events

    async def _emit(self, event: AgentEvent) -> None:
        self.session.append(event)
        if event.type not in FLEETING:
            self.events.append(event)
        self.changes.apply(event)
        if event.type == "tool_call_started" and event.kind == "read":
            self._reading.add(event.call.id)
        if self._must_be_on_disk(event):
            await in_thread(self.session.sync)
        if event.type == "tool_call_finished":
            self._tidy()
            await self._live.shown()
        await self._on_event(event)
        if event.type == "tool_call_finished" and event.result.tool_call_id not in self._reading:
            for changed in await in_thread(self.changes.after_call, event):
                await self._emit(changed)

    def _must_be_on_disk(self, event: AgentEvent) -> bool:
        """The end of a turn; and what was approved, before it has its effect."""
        if event.type == "approval_decided":
            return event.decision == "allow" and event.call_id not in self._reading
        return event.type == "turn_ended"

    def _tidy(self) -> None:
        """Remove what the sandbox laid over missing paths, unless a job still runs under it."""
        if self._sandbox and not any(job.running for job in self.jobs.list()):
            self._sandbox.tidy()

    async def _requested(self, call_id: str, title: str, reason: str) -> None:
        await self._emit(ApprovalRequested(call_id=call_id, title=title, reason=reason))


async def _nowhere(event: AgentEvent) -> None:
    """For hosts that only want the end."""
