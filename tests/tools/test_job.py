"""Background commands: read, stopped, outliving a cancel, ended with the program."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tools.process_trees import fresh_tag, survivors

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.execution import execute_tool_calls
from tui_agent.agent.messages import ToolCall, ToolResultMessage
from tui_agent.tools import jobs as jobs_module
from tui_agent.tools.job import job_tool
from tui_agent.tools.jobs import Job, Jobs
from tui_agent.tools.process import kill_all
from tui_agent.tools.run_command import run_command_tool
from tui_agent.tools.workspace import Workspace


class Bench:
    """Both tools over one registry, with every change of it counted."""

    def __init__(self, workspace: Workspace, spill: Path) -> None:
        self.changed = asyncio.Event()
        self.jobs = Jobs()
        self.jobs.on_change = self.changed.set
        self.tools = [run_command_tool(workspace, jobs=self.jobs, spill_folder=spill), job_tool(self.jobs)]

    async def ask(self, name: str, signal: CancelSignal | None = None, **arguments: Any) -> ToolResultMessage:
        call = ToolCall(id="1", name=name, arguments=arguments)
        (result,) = await execute_tool_calls([call], self.tools, signal=signal or CancelSignal())
        return result

    async def start(self, command: str, signal: CancelSignal | None = None) -> Job:
        result = await self.ask("run_command", signal, command=command, background=True)
        assert not result.is_error, result.text
        return self.jobs.list()[-1]

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():
                await asyncio.sleep(0.01)


@pytest.fixture
async def bench(tmp_path: Path) -> Any:
    folder = tmp_path / "proj"
    folder.mkdir()
    with Workspace(folder) as workspace:
        yield Bench(workspace, tmp_path / "spill")
        assert kill_all()


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(jobs_module, "MOST", 3)
    monkeypatch.setattr(jobs_module, "REMEMBERED", 5)
    return


async def test_each_read_goes_on_where_the_last_ended(bench: Bench, tmp_path: Path) -> None:
    go = tmp_path / "go"
    job = await bench.start(f"echo one; until [ -e {go} ]; do sleep .02; done; echo two; exit 3")
    await bench.until(lambda: "one" in job.latest())
    first = await bench.ask("job", id=job.id)
    assert first.text.startswith("one\n[job-1: running for ")
    nothing = await bench.ask("job", id=job.id, action="read")
    assert nothing.text.startswith("(no new output) job-1: running for ")
    go.touch()
    await bench.until(lambda: not job.running)
    last = await bench.ask("job", id=job.id)
    assert last.text == "two\n[job-1: exit 3]"
    assert (last.details.exit_code, last.details.job) == (3, "job-1")  # type: ignore[union-attr]
    assert not last.is_error


async def test_stop_ends_the_whole_tree_and_gives_the_rest(bench: Bench) -> None:
    tag = fresh_tag()
    job = await bench.start(f"setsid -f sleep {tag}; echo up; sleep {tag}")
    await bench.until(lambda: "up" in job.latest())
    result = await bench.ask("job", id=job.id, action="stop")
    assert result.text.startswith("up\n[job-1: stopped after ")
    assert survivors(tag) == {}
    again = await bench.ask("job", id=job.id, action="stop")
    assert "(no new output) job-1: stopped after " in again.text


async def test_a_job_lasts_as_long_as_what_it_started(bench: Bench, tmp_path: Path) -> None:
    tag, go = fresh_tag(), tmp_path / "go"
    job = await bench.start(f"(until [ -e {go} ]; do sleep .02; done; echo served {tag}) & echo started")
    await bench.until(lambda: "started" in job.latest())
    await asyncio.sleep(0.4)  # longer than a command in the foreground waits for its background
    assert job.running
    go.touch()
    await bench.until(lambda: not job.running)
    assert (await bench.ask("job", id=job.id)).text == f"started\nserved {tag}\n[job-1: exit 0]"


async def test_cancel_leaves_jobs_running(bench: Bench) -> None:
    signal, tag = CancelSignal(), fresh_tag()
    job = await bench.start(f"echo up; sleep {tag}", signal)
    await bench.until(lambda: "up" in job.latest())
    signal.cancel()
    await bench.ask("run_command", command="sleep .1")
    assert job.running
    assert survivors(tag)
    bench.jobs.stop(job.id)
    await job.wait()
    assert survivors(tag) == {}


async def test_a_set_signal_starts_no_job(bench: Bench) -> None:
    signal = CancelSignal()
    signal.cancel()
    await bench.ask("run_command", signal, command="sleep 1000", background=True)
    assert bench.jobs.list() == ()


async def test_end_of_the_program_ends_jobs(bench: Bench) -> None:
    tag = fresh_tag()
    for _ in range(3):
        await bench.start(f"setsid -f sleep {tag}; sleep {tag}")
    assert kill_all()
    assert survivors(tag) == {}
    await bench.until(lambda: not any(job.running for job in bench.jobs.list()))


async def test_changes_are_told(bench: Bench) -> None:
    job = await bench.start("true")
    assert bench.changed.is_set()
    bench.changed.clear()
    async with asyncio.timeout(5):
        await bench.changed.wait()
    assert job.state == "exit 0"


async def test_unknown_jobs_and_actions(bench: Bench) -> None:
    none = await bench.ask("job", id="job-9")
    assert none.is_error
    assert none.text == "no job 'job-9'; jobs: there are none"
    await bench.start("true")
    assert (await bench.ask("job", id="1")).text == "no job '1'; jobs: job-1"
    assert (await bench.ask("job", id="job-1", action="kill")).is_error


async def test_only_so_many_at_once_and_only_so_many_remembered(bench: Bench) -> None:
    running = [await bench.start("sleep 1000") for _ in range(3)]
    refused = await bench.ask("run_command", command="sleep 1000", background=True)
    assert refused.is_error
    assert "3 background jobs are running; stop one first" in refused.text
    for job in running:
        job.stop()
        await job.wait()
    for _ in range(4):
        await (await bench.start("true")).wait()
    kept = [job.id for job in bench.jobs.list()]
    assert kept == ["job-3", "job-4", "job-5", "job-6", "job-7"]


async def test_long_output_of_a_job_is_cut_and_spilled(bench: Bench) -> None:
    job = await bench.start("seq 100000")
    await job.wait()
    text = (await bench.ask("job", id=job.id)).text
    assert "bytes left out here; all 588,895 bytes are in " in text
    assert text.endswith("100000\n[job-1: exit 0]")


def test_reading_never_asks() -> None:
    tool = job_tool(Jobs())
    assert (tool.name, tool.kind) == ("job", "read")
    assert set(tool.schema["properties"]) == {"id", "action"}
