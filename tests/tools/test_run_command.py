"""`run_command` as the model meets it: through the loop's own way to run calls."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools.process_trees import fresh_tag, survivors

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.execution import execute_tool_calls
from tui_agent.agent.gate import Allow, Answer
from tui_agent.agent.messages import ToolCall, ToolResultMessage
from tui_agent.agent.tool import Pending
from tui_agent.tools.details import Command, CommandResult
from tui_agent.tools.jobs import Jobs
from tui_agent.tools.run_command import LARGEST, RunCommandTool, run_command_tool
from tui_agent.tools.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    folder = tmp_path / "proj"
    folder.mkdir()
    with Workspace(folder) as workspace:
        yield workspace


@pytest.fixture
def tool(workspace: Workspace, tmp_path: Path) -> RunCommandTool:
    return run_command_tool(workspace, spill_folder=tmp_path / "spill")


async def ask(
    tool: RunCommandTool, command: str, *, signal: CancelSignal | None = None, gate: Any = None, **more: Any
) -> ToolResultMessage:
    call = ToolCall(id="call-1", name="run_command", arguments={"command": command, **more})
    (result,) = await execute_tool_calls([call], [tool], signal=signal or CancelSignal(), gate=gate)
    return result


def details(result: ToolResultMessage) -> CommandResult:
    assert isinstance(result.details, CommandResult)
    return result.details


async def test_output_then_how_and_where_it_ended(tool: RunCommandTool, workspace: Workspace) -> None:
    result = await ask(tool, "echo hi; echo oh >&2")
    assert result.text == f"hi\noh\n[exit 0, in {workspace.root}]"
    assert not result.is_error
    assert details(result).exit_code == 0
    assert details(result).command == "echo hi; echo oh >&2"
    assert details(result).output == result.text


@pytest.mark.parametrize(("command", "code"), [("true", 0), ("false", 1), ("exec >&-; sleep .1", 0)])
async def test_silence_is_said(tool: RunCommandTool, workspace: Workspace, command: str, code: int) -> None:
    result = await ask(tool, command)
    assert result.text == f"(no output), exit {code}, in {workspace.root}"
    assert result.is_error == (code != 0)


async def test_failures_read_as_what_they_are(tool: RunCommandTool) -> None:
    missing = await ask(tool, "no-such-program")
    assert "command not found\n[exit 127, in " in missing.text
    assert missing.is_error
    crashed = await ask(tool, "kill -SEGV $$")
    assert "ended by signal 11 (SIGSEGV)" in crashed.text
    assert details(crashed).exit_code == -11
    lost = await ask(tool, "echo before; kill -9 $PPID; sleep 5")
    assert lost.text.startswith("before\n[its supervisor was killed")
    assert lost.is_error


async def test_text_reaches_bash_literally(tool: RunCommandTool) -> None:
    result = await ask(tool, r"""echo '!x \1 \g<0> $& "q"' "!y" 'C:\users\u00e9x' 😀""")
    assert result.text.startswith('!x \\1 \\g<0> $& "q" !y C:\\users\\u00e9x 😀\n')
    dashed = await ask(tool, "-c echo")
    assert "-c: command not found" in dashed.text


async def test_every_command_starts_in_the_folder(tool: RunCommandTool, workspace: Workspace) -> None:
    (workspace.root / "sub").mkdir()
    first = await ask(tool, "cd sub && pwd")
    second = await ask(tool, "pwd; echo $PWD")
    assert first.text.startswith(f"{workspace.root}/sub\n")
    assert second.text.startswith(f"{workspace.root}\n{workspace.root}\n[exit 0")


async def test_folder_that_is_gone_or_another_one(tool: RunCommandTool, workspace: Workspace) -> None:
    moved = workspace.root.with_name("moved")
    workspace.root.rename(moved)
    gone = await ask(tool, "touch made")
    workspace.root.mkdir()
    another = await ask(tool, "touch made")
    for result in (gone, another):
        assert result.is_error
        assert "was deleted, moved or replaced; nothing ran" in result.text
    assert os.listdir(moved) == os.listdir(workspace.root) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"command": "  \n"}, "the command is empty"),
        ({"command": "echo a\0b"}, "NUL"),
        ({"command": "echo \ud800"}, "lone surrogate"),
        ({"command": "#" * (LARGEST + 1)}, "bytes, and the system takes"),
        ({"command": "touch made", "timeout": 601}, "timeout"),
        ({"command": "touch made", "timeout": 0}, "timeout"),
        ({"command": "touch made", "timeout": True}, "timeout"),
        ({"command": "touch made", "background": "yes"}, "background"),
        ({"command": ["touch", "made"]}, "command"),
        ({"command": "touch made", "cwd": "/"}, "cwd"),
        ({}, "command"),
    ],
)
async def test_what_could_not_run_as_shown_does_not_run(
    tool: RunCommandTool, workspace: Workspace, arguments: dict[str, Any], said: str
) -> None:
    call = ToolCall(id="1", name="run_command", arguments=arguments)
    (result,) = await execute_tool_calls([call], [tool], signal=CancelSignal())
    assert result.is_error
    assert said in result.text
    assert os.listdir(workspace.root) == []


async def test_the_longest_command_runs(tool: RunCommandTool) -> None:
    result = await ask(tool, "echo fine #" + "x" * (LARGEST - len("echo fine #")))
    assert result.text.startswith("fine\n")


async def test_timeout_is_told(tool: RunCommandTool) -> None:
    result = await ask(tool, "echo so far; sleep 1000", timeout="1")
    assert "so far\n[timed out after 1 s and was ended, in " in result.text
    assert result.is_error
    assert details(result).exit_code == -15


async def test_leftovers_are_told(tool: RunCommandTool) -> None:
    tag = fresh_tag()
    one = await ask(tool, f"sleep {tag} & echo hi")
    two = await ask(tool, f"sleep {tag} & sleep {tag} &")
    assert "hi\n1 background process was ended with it" in one.text
    assert "2 background processes were ended with it" in two.text
    assert not one.is_error
    assert survivors(tag) == {}


async def test_cancel_gives_the_output_so_far(tool: RunCommandTool, workspace: Workspace) -> None:
    tag, signal = fresh_tag(), CancelSignal()
    work = asyncio.create_task(
        ask(tool, f"touch a; echo so far; touch ready; sleep {tag}; touch b", signal=signal)
    )
    while not (workspace.root / "ready").exists():
        await asyncio.sleep(0.01)
    signal.cancel()
    result = await work
    assert (
        "interrupted by the user; it may have run in part. Output so far:\nso far\n[stopped after"
        in result.text
    )
    assert result.is_error
    assert survivors(tag) == {}
    assert sorted(os.listdir(workspace.root)) == ["a", "ready"]


async def test_spilled_output_says_where_it_is(tool: RunCommandTool, tmp_path: Path) -> None:
    result = await ask(tool, "seq 100000")
    spill = details(result).spill
    assert spill is not None
    assert Path(spill).parent == tmp_path / "spill"
    assert stat.S_IMODE(os.stat(spill).st_mode) == 0o600
    assert (tmp_path / spill).read_text() == "".join(f"{n}\n" for n in range(1, 100_001))
    assert f"all 588,895 bytes are in {spill}" in result.text
    assert result.text.startswith("1\n2\n")
    assert "\n100000\n[exit 0" in result.text
    assert len(result.text) < 50_500


async def test_live_output_names_its_call_and_is_not_more_than_ten_a_second(workspace: Workspace) -> None:
    told: list[tuple[str, str, float]] = []
    loop = asyncio.get_running_loop()
    tool = run_command_tool(workspace, on_output=lambda id, text: told.append((id, text, loop.time())))
    result = await ask(
        tool, "for i in $(seq 60); do printf '\\e[31m%d\\r' $i; sleep .01; done; echo; echo end"
    )
    assert {id for id, _, _ in told} == {"call-1"}
    assert told[-1][1] == "60\nend\n"
    assert all("\x1b" not in text for _, text, _ in told)
    moments = [at for _, _, at in told]
    assert 3 <= len(told) <= (moments[-1] - moments[0]) / 0.1 + 3
    assert result.text.startswith("60\nend\n")


async def test_environment_is_scrubbed_and_quiet(
    tool: RunCommandTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-secret")
    monkeypatch.setenv("HARMLESS_NAME", "sk-ant-secret-0123456789")
    monkeypatch.setenv("BASH_ENV", "/nonexistent")
    result = await ask(
        tool, "env; printenv; tr '\\0' '\\n' < /proc/self/environ; tr '\\0' '\\n' < /proc/$PPID/environ"
    )
    assert "secret" not in result.text
    assert "BASH_ENV" not in result.text
    assert "\nPAGER=cat\n" in result.text


async def test_variables_are_given_back_by_name(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "t0ken")
    tool = run_command_tool(workspace, env_pass=["DEPLOY_TOKEN"])
    assert (await ask(tool, "echo $DEPLOY_TOKEN")).text.startswith("t0ken\n")


@pytest.mark.parametrize(
    "command",
    ["git commit", "git rebase -i HEAD~1", "git log", "python3 -c 'input()'", "read x", "cat", "crontab -e"],
)
async def test_nothing_waits_for_a_person(tool: RunCommandTool, command: str) -> None:
    repository = "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one; "
    result = await ask(tool, f"{repository if 'git' in command else ''}timeout 5 {command}", timeout=10)
    assert details(result).seconds < 5, result.text


async def test_wrapped_by_another_program(workspace: Workspace) -> None:
    tool = run_command_tool(workspace, wrap=lambda argv: ["/usr/bin/env", "WRAPPED=yes", *argv])
    assert (await ask(tool, "echo $WRAPPED")).text.startswith("yes\n")


class Amending:
    """A person who edits the command before they say yes."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.seen: list[Pending] = []

    async def decide(self, batch: list[Pending], signal: CancelSignal) -> list[Answer]:
        self.seen += batch
        (pending,) = batch
        shown = pending.proposal.details
        assert isinstance(shown, Command)
        assert pending.proposal.amend is not None
        return [Allow(pending.proposal.amend(shown.model_copy(update={"command": self.command})))]


async def test_the_proposal_shows_what_runs(tool: RunCommandTool, workspace: Workspace) -> None:
    gate = Amending("echo first\necho second")
    await ask(tool, "echo first\necho second", gate=gate, timeout=7)
    (pending,) = gate.seen
    assert pending.proposal.title == "echo first"
    assert pending.proposal.targets == ("echo first\necho second",)
    assert pending.proposal.kind == "execute"
    shown = pending.proposal.details
    assert isinstance(shown, Command)
    assert (shown.folder, shown.timeout, shown.background) == (str(workspace.root), 7, False)


async def test_an_edited_command_is_what_runs_and_is_told(tool: RunCommandTool, workspace: Workspace) -> None:
    result = await ask(tool, "touch asked", gate=Amending("touch edited; echo done"))
    assert os.listdir(workspace.root) == ["edited"]
    assert "the user edited the command; it ran as: touch edited; echo done" in result.text
    unchanged = await ask(tool, "echo same", gate=Amending("echo same"))
    assert "the user edited" not in unchanged.text
    empty = await ask(tool, "touch asked", gate=Amending(" "))
    assert empty.is_error
    assert "asked" not in os.listdir(workspace.root)


async def test_background_answers_at_once(workspace: Workspace) -> None:
    jobs, tag = Jobs(), fresh_tag()
    tool = run_command_tool(workspace, jobs=jobs)
    result = await ask(tool, f"sleep {tag}", background=True)
    assert re.match(
        rf"started in the background as job-1, in {workspace.root}\. Read .*job\(id='job-1'\)", result.text
    )
    assert details(result).job == "job-1"
    (job,) = jobs.list()
    assert job.running
    job.stop()
    await job.wait()
    assert survivors(tag) == {}
