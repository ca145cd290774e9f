"""How long a long session takes to come back: the parts of it, and the whole on a real terminal.

    python tests/bench/bench_resume.py [MESSAGES]

`screen` is the time from the start of the program until the last words of the session are on the screen and
a typed character was echoed under them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pexpect

LAST = "the last words"
TYPED = "zq"


def timed(name: str, function: Callable[[], object]) -> object:
    start = time.perf_counter()
    result = function()
    print(f"{name:>10} {time.perf_counter() - start:6.3f} s")
    return result


def make(folder: Path, messages: int) -> None:
    """A session of so many messages: prompts, calls with results and diffs, answers with code."""
    from tui_agent.agent import (
        AssistantMessage,
        AssistantMessageDone,
        FileChanged,
        SessionStarted,
        TextContent,
        ThinkingContent,
        ToolCall,
        ToolCallFinished,
        ToolCallStarted,
        ToolResultMessage,
        TurnEnded,
        TurnStarted,
        Usage,
        UsageUpdated,
    )
    from tui_agent.session.store import SessionStore

    store = SessionStore.create(folder)
    store.append(SessionStarted(system="s" * 3000, tools=(), model="claude-opus-5-5", version="0"))
    answer = (
        "I changed **the cart**.\n\n```python\n" + "total += line.price\n" * 12 + "```\n\n" + "words " * 80
    )
    usage = Usage(input_tokens=12_000, output_tokens=400)
    for n in range(messages // 4):
        call = ToolCall(id=f"c{n}", name="read_file", arguments={"path": f"src/file{n}.py"})
        said = ThinkingContent(thinking="Let me see. " * 20, signature="s" * 200)
        result = ToolResultMessage(
            tool_call_id=call.id, tool_name=call.name, content=(TextContent(text="line of code\n" * 150),)
        )
        last = answer if n < messages // 4 - 1 else f"{answer}\n\n{LAST}"
        for event in (
            TurnStarted(prompt=(TextContent(text=f"Question {n}: what does the cart do, and why?"),)),
            AssistantMessageDone(
                message=AssistantMessage(content=(said, call), stop_reason="tool_use", usage=usage)
            ),
            UsageUpdated(usage=usage, turn=usage, step=1),
            ToolCallStarted(call=call, kind="read", title="Read"),
            ToolCallFinished(result=result, seconds=0.1),
            FileChanged(
                path=f"src/file{n % 40}.py", before=f"{n:064}", after=f"{n + 1:064}", call_id=call.id
            ),
            AssistantMessageDone(
                message=AssistantMessage(
                    content=(TextContent(text=last),), stop_reason="end_turn", usage=usage
                )
            ),
            UsageUpdated(usage=usage, turn=usage, step=2),
            TurnEnded(stop_reason="end_turn", usage=usage),
        ):
            store.append(event)
    store.close()


def parts(folder: Path) -> None:
    import asyncio

    from tui_agent.credentials import Credentials
    from tui_agent.runtime import Runtime
    from tui_agent.session.index import last
    from tui_agent.session.search import search
    from tui_agent.session.store import load
    from tui_agent.settings import Settings

    summary = last(folder)
    assert summary is not None
    print(f"{'file':>10} {summary.size / 1e6:6.1f} MB")
    timed("load", lambda: load(summary.place))
    timed("search", lambda: search([summary.place], "nowhere to be found"))
    settings = Settings(folder, resume="last", credentials=Credentials("sk-test-0123456789"))

    async def opened() -> None:
        await (await Runtime.open(settings)).close()

    timed("open", lambda: asyncio.run(opened()))


def screen(folder: Path) -> None:
    env = {**os.environ, "TERM": "xterm-256color", "ANTHROPIC_API_KEY": "sk-test-0123456789"}
    env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
    start = time.perf_counter()
    command = [sys.executable, "-m", "tui_agent", "--continue", str(folder)]
    program = pexpect.spawn(command[0], command[1:], env=env, dimensions=(40, 120), timeout=60)
    program.expect_exact(LAST)
    print(f"{'shown':>10} {time.perf_counter() - start:6.3f} s")
    program.send(TYPED)
    program.expect_exact(TYPED[-1])
    print(f"{'screen':>10} {time.perf_counter() - start:6.3f} s")
    program.close(force=True)


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HOME": home, "XDG_STATE_HOME": f"{home}/state", "XDG_CONFIG_HOME": f"{home}/config"}
        folder = Path(home, "project")
        folder.mkdir()
        print(f"{'messages':>10} {messages:6,}")
        make(folder, messages)
        parts(folder)
        screen(folder)


if __name__ == "__main__":
    main()
