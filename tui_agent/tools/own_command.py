"""A command of the person's own (`!cmd`), under the same supervisor as the model's.

It runs in the working folder with the environment that commands get, but without a sandbox, which holds the
model only, and without a time limit: the person watches it and stops it. It is shown as a call, which no
reply asked for; the conversation knows nothing of it until its note is delivered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace

from tui_agent.agent import AgentEvent, CancelSignal, TextContent, ToolCall, ToolError, ToolResultMessage
from tui_agent.agent.events import Emit, ToolCallFinished, ToolCallStarted, ToolProgress
from tui_agent.tools.capture import Capture
from tui_agent.tools.details import Command, CommandResult
from tui_agent.tools.process import Ended, run
from tui_agent.tools.run_command import Surroundings, check_command
from tui_agent.tools.words import how_it_ended, leftovers

NAME = "!"
"""What the tool log calls it. No tool has such a name."""


async def run_own_command(
    around: Surroundings,
    command: str,
    signal: CancelSignal,
    call_id: str,
    show: Emit,
    keep: Callable[[AgentEvent], None],
) -> str:
    """Run it to its end and return the note that tells the model of it. A signal that is set ends it.

    Its events go to `show` at once, and to `keep` both together when it has ended, so that a session never
    holds one that is open.
    """
    call = ToolCall(id=call_id, name=NAME, arguments={"command": command})
    details = Command(command=command, folder=str(around.workspace.root), timeout=0)
    started = ToolCallStarted(call=call, kind="execute", title=command.partition("\n")[0], details=details)
    await show(started)
    began = time.monotonic()
    try:
        result = await _run(around, command, signal, call_id, show)
        content, failed = result.output, result.exit_code != 0
    except ToolError as error:
        result, content, failed = None, str(error), True
    finished = ToolCallFinished(
        result=ToolResultMessage(
            tool_call_id=call.id,
            tool_name=NAME,
            content=(TextContent(text=content),),
            is_error=failed,
            details=result,
        ),
        seconds=round(time.monotonic() - began, 3),
    )
    keep(started)
    keep(finished)
    await show(finished)
    return f"[the user ran a command themselves, in the working folder]\n$ {command}\n{content}"


async def _run(
    around: Surroundings, command: str, signal: CancelSignal, call_id: str, show: Emit
) -> CommandResult:
    check_command(command)
    capture = around.capture()
    grown = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def follow() -> None:
        while True:
            await grown.wait()
            grown.clear()
            await show(ToolProgress(call_id=call_id, text=capture.latest()))

    following = asyncio.create_task(follow())
    try:
        ended = await run(
            replace(around, wrap=None).argv(command),
            folder=around.folder(),
            env=around.env(),
            output=capture.feed,
            on_tick=lambda: _set(loop, grown),
            signal=signal,
        )
    finally:
        following.cancel()
        capture.close()
    return _result(command, ended, capture)


def _set(loop: asyncio.AbstractEventLoop, event: asyncio.Event) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(event.set)


def _result(command: str, ended: Ended, capture: Capture) -> CommandResult:
    how = "stopped" if ended.how == "stopped" else how_it_ended(ended)
    output = capture.take().removesuffix("\n") or "(no output)"
    return CommandResult(
        command=command,
        output="\n".join([output, *leftovers(ended), f"[{how}]"]),
        exit_code=ended.code,
        ended=how,
        seconds=round(ended.seconds, 3),
        spill=str(capture.path) if capture.path else None,
    )
