"""`run_command`: one bash command in the working folder, with an end.

The proposal shows the very text that bash gets. Its result is the output, then one line on how it ended and
where it ran. In the background it answers at once with the id of a job.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import Cancelled, ToolError
from tui_agent.agent.tool import AgentTool, Content, Proposal, ToolOutput, current_call_id
from tui_agent.tools.arguments import Arguments, Text, Whole
from tui_agent.tools.capture import Capture
from tui_agent.tools.child_env import child_env
from tui_agent.tools.details import Command, CommandResult
from tui_agent.tools.jobs import Jobs
from tui_agent.tools.process import Ended, run
from tui_agent.tools.words import how_it_ended, leftovers

if TYPE_CHECKING:
    from tui_agent.tools.workspace import Workspace

LONGEST = 600
"""Seconds that a command in the foreground may take."""
LARGEST = 128 * 1024 - 1
"""Bytes of a command: the kernel takes no longer argument."""

OnOutput = Callable[[str, str], None]
Wrap = Callable[[list[str]], list[str]]


class RunCommand(Arguments):
    command: Text = Field(description="Passed to `bash -c` as it is.")
    timeout: Whole = Field(default=120, ge=1, le=LONGEST, description="Seconds. Not for background jobs.")
    background: bool = Field(default=False, description="Return a job id at once and let it go on.")


@dataclass(frozen=True)
class Surroundings:
    """What every command of a session runs with.

    `on_output(call_id, text)` gets the latest output while a command runs, up to ten times a second, on the
    loop; each text replaces the one before. `spill_folder` takes output that is too long for memory. `wrap`
    puts a sandbox in front of bash, and `sandbox` says in words what that holds. `env_pass` names variables
    that are never withheld. `scrub` takes out of all output what must not be kept anywhere.
    """

    workspace: Workspace
    jobs: Jobs
    on_output: OnOutput | None = None
    spill_folder: Path | None = None
    wrap: Wrap | None = None
    sandbox: str = ""
    env_pass: Collection[str] = field(default=())
    scrub: Callable[[bytes], bytes] = bytes

    def argv(self, command: str) -> list[str]:
        bash = "/bin/bash" if os.access("/bin/bash", os.X_OK) else shutil.which("bash")
        if bash is None:
            raise ToolError("commands need bash, and it is not installed. Nothing ran.")
        argv = [bash, "-c", "--", command]
        return self.wrap(argv) if self.wrap else argv

    def folder(self) -> str:
        """The working folder by its open descriptor, so that a swapped name can't move a command."""
        root, fd = self.workspace.root, self.workspace.fd
        try:
            there = os.path.samestat(os.stat(root), os.fstat(fd))
        except OSError:
            there = False
        if not there:
            raise ToolError(
                f"the working folder {root} was deleted, moved or replaced; nothing ran. "
                "Tell the user to restore it or to start again in another folder."
            )
        by_descriptor = f"/proc/self/fd/{fd}"
        return by_descriptor if os.path.isdir(by_descriptor) else str(root)

    def capture(self) -> Capture:
        return Capture(self.spill_folder, scrub=self.scrub)

    def env(self) -> dict[str, str]:
        return child_env(os.environ, str(self.workspace.root), self.env_pass)


class RunCommandTool(AgentTool):
    name = "run_command"
    description = (
        "Run a bash command in the working folder. stdin is empty and there is no terminal, so nothing can "
        "ask. Returns stdout and stderr in their order (head and tail when long) and the exit code. Each "
        "call starts anew in the working folder; processes left running when the command ends are ended, "
        "unless background=true."
    )
    parameters = RunCommand
    kind = "execute"

    def __init__(self, around: Surroundings) -> None:
        super().__init__()
        self._around = around

    def prepare(self, parameters: RunCommand, signal: CancelSignal) -> Proposal:
        shown = Command(
            command=parameters.command,
            folder=str(self._around.workspace.root),
            timeout=parameters.timeout,
            background=parameters.background,
            sandbox=self._around.sandbox,
        )
        return self._propose(shown, shown.command)

    async def execute(self, parameters: RunCommand, signal: CancelSignal) -> Content:
        return await self.prepare(parameters, signal).run(signal)

    def _propose(self, shown: Command, asked: str) -> Proposal:
        """`asked` is the command as the model wrote it, whatever became of it."""
        check_command(shown.command)
        first_line = shown.command.strip().partition("\n")[0]
        return Proposal(
            title=first_line,
            kind="execute",
            targets=(shown.command,),
            details=shown,
            run=partial(self._run, shown, asked),
            amend=partial(self._amend, asked),
        )

    def _amend(self, asked: str, details: Any) -> Proposal:
        if not isinstance(details, Command):
            raise TypeError("a command is amended with a Command")
        return self._propose(details, asked)

    async def _run(self, shown: Command, asked: str, signal: CancelSignal) -> ToolOutput:
        signal.raise_if_cancelled()
        edited = shown.command != asked
        notes = [f"the user edited the command; it ran as: {shown.command}"] if edited else []
        run = self._in_background if shown.background else self._in_foreground
        return await run(shown, notes, signal)

    async def _in_background(self, shown: Command, notes: list[str], signal: CancelSignal) -> ToolOutput:
        around = self._around
        job = around.jobs.start(
            shown.command,
            around.argv(shown.command),
            folder=around.folder(),
            env=around.env(),
            capture=around.capture(),
        )
        said = f"started in the background as {job.id}, in {shown.folder}"
        todo = f"Read its output with job(id={job.id!r}), stop it with job(id={job.id!r}, action='stop')."
        details = CommandResult(command=shown.command, ended="in the background", job=job.id)
        return ToolOutput("\n".join([*notes, f"{said}. {todo}"]), details)

    async def _in_foreground(self, shown: Command, notes: list[str], signal: CancelSignal) -> ToolOutput:
        around = self._around
        capture = around.capture()
        try:
            ended = await run(
                around.argv(shown.command),
                folder=around.folder(),
                env=around.env(),
                output=capture.feed,
                on_tick=self._live(capture),
                timeout=shown.timeout,
                signal=signal,
            )
        finally:
            capture.close()
        return _result(shown, ended, capture, notes, signal)

    def _live(self, capture: Capture) -> Callable[[], None]:
        """Called by the command's thread; what it has to tell arrives on the loop."""
        tell, call_id, loop = self._around.on_output, current_call_id(), asyncio.get_running_loop()
        if tell is None:
            return lambda: None

        def tick() -> None:
            with suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(tell, call_id, capture.latest())

        return tick


def check_command(command: str) -> None:
    """Refuse what could not be run as shown."""
    if not command.strip():
        raise ToolError("the command is empty; nothing ran. Pass the command to run.")
    if "\0" in command:
        raise ToolError("the command contains a NUL character, which no program can get; nothing ran.")
    try:
        length = len(command.encode())
    except UnicodeEncodeError as error:
        raise ToolError("the command is not valid Unicode (a lone surrogate); nothing ran.") from error
    if length > LARGEST:
        raise ToolError(
            f"the command has {length:,} bytes, and the system takes {LARGEST:,} at most; nothing ran. "
            "Write a script to a file and run that."
        )


def _result(
    shown: Command, ended: Ended, capture: Capture, notes: list[str], signal: CancelSignal
) -> ToolOutput:
    output = capture.take()
    how = how_it_ended(ended, shown.timeout)
    notes = [*notes, *leftovers(ended)]
    if output.strip():
        text = "\n".join([output.removesuffix("\n"), *notes, f"[{how}, in {shown.folder}]"])
    else:
        text = "\n".join([*notes, f"(no output), {how}, in {shown.folder}"])
    if ended.how == "stopped":
        raise Cancelled(signal.reason or "the program is ending", text if output.strip() else "")
    details = CommandResult(
        command=shown.command,
        output=text,
        exit_code=ended.code,
        ended=how,
        seconds=round(ended.seconds, 3),
        spill=str(capture.path) if capture.path else None,
    )
    return ToolOutput(text, details, is_error=ended.how != "exited" or ended.code != 0)


def run_command_tool(
    workspace: Workspace,
    *,
    on_output: OnOutput | None = None,
    spill_folder: Path | None = None,
    jobs: Jobs | None = None,
    wrap: Wrap | None = None,
    sandbox: str = "",
    env_pass: Collection[str] = (),
    scrub: Callable[[bytes], bytes] = bytes,
) -> RunCommandTool:
    """The tool for one session; see `Surroundings` for what the parameters mean."""
    jobs = jobs or Jobs()
    around = Surroundings(workspace, jobs, on_output, spill_folder, wrap, sandbox, env_pass, scrub)
    return RunCommandTool(around)
