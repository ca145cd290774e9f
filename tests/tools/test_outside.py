"""Reading outside the folder: shown by its real path, allowed by a person or a rule, and only that object."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tui_agent.agent import (
    Allow,
    CancelSignal,
    Deny,
    Pending,
    ToolCall,
    ToolResultMessage,
    execute_tool_calls,
)
from tui_agent.agent.gate import By
from tui_agent.tools import Workspace, coding_tools


class Gatekeeper:
    """Allows everything, in somebody's name, after a last word of the test's."""

    def __init__(self, by: By = "user", meanwhile: Any = None) -> None:
        self.by = by
        self.meanwhile = meanwhile
        self.asked: list[Pending] = []

    async def decide(self, batch: Sequence[Pending], signal: CancelSignal) -> Sequence[Allow | Deny]:
        self.asked += batch
        if self.meanwhile:
            self.meanwhile()
        return [Allow(pending.proposal, self.by) for pending in batch]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "plan.md").write_text("step one\nstep two\n")
    (tmp_path / "notes" / "secret.pem").write_text("step KEY\n")
    (tmp_path / "work").mkdir()
    os.symlink(tmp_path / "notes" / "plan.md", tmp_path / "work" / "link")
    return tmp_path / "work"


async def run(
    work: Path, name: str, gate: Gatekeeper | None, workspace: Workspace | None = None, **arguments: Any
) -> tuple[str, bool]:
    tools = coding_tools(workspace or Workspace(work))
    call = ToolCall(id="c1", name=name, arguments=arguments)
    (result,) = await execute_tool_calls([call], tools, signal=CancelSignal(), gate=gate)
    assert isinstance(result, ToolResultMessage)
    return "".join(getattr(block, "text", "") for block in result.content), result.is_error


@pytest.mark.parametrize("form", ["{notes}/plan.md", "../notes/plan.md", "link", "{notes}/../notes//plan.md"])
async def test_every_way_out_is_one_real_path(work: Path, form: str) -> None:
    notes = work.parent / "notes"
    gate = Gatekeeper()
    text, failed = await run(work, "read_file", gate, path=form.format(notes=notes))
    (pending,) = gate.asked
    assert pending.proposal.targets == (str(notes / "plan.md"),)
    assert pending.proposal.title == f"Read {notes}/plan.md"
    assert pending.proposal.kind == "read"
    assert not failed
    assert "step two" in text


@pytest.mark.parametrize("gate", [None, Gatekeeper("mode")])
@pytest.mark.parametrize("tool", ["read_file", "list_files", "search_files"])
async def test_nobody_s_word_reads_nothing_outside(work: Path, gate: Gatekeeper | None, tool: str) -> None:
    path = "../notes" if tool != "read_file" else "../notes/plan.md"
    arguments = {"pattern": "step"} if tool == "search_files" else {}
    text, failed = await run(work, tool, gate, path=path, **arguments)
    assert failed
    assert "outside the working folder" in text
    assert "step" not in text.replace("next step", "")


async def test_folders_are_listed_and_searched_with_whole_names(work: Path) -> None:
    notes = work.parent / "notes"
    text, _ = await run(work, "list_files", Gatekeeper("rule"), path=str(notes))
    assert "plan.md  18 B" in text
    workspace = Workspace(work)
    workspace.hides = lambda path: path.endswith(".pem")
    text, _ = await run(work, "search_files", Gatekeeper("rule"), workspace, path="../notes", pattern="step")
    assert f"{notes}/plan.md:1: step one" in text
    assert "KEY" not in text
    assert "1 file not searched" in text
    text, _ = await run(work, "search_files", Gatekeeper(), path="../notes/plan.md", pattern="two")
    assert text == f"{notes}/plan.md:2: step two"


async def test_rules_of_the_folder_hold_outside_too(work: Path) -> None:
    notes = work.parent / "notes"
    workspace = Workspace(work)
    workspace.may_read = lambda path: path != str(notes / "plan.md")
    text, failed = await run(work, "read_file", Gatekeeper(), workspace, path="../notes/plan.md")
    assert failed
    assert "denies" in text
    text, _ = await run(work, "list_files", Gatekeeper(), workspace, path="../notes")
    assert "plan.md" not in text
    assert "1 entry left out" in text


async def test_what_is_read_outside_is_not_taken_for_a_file_inside(work: Path) -> None:
    (work / "plan.md").write_text("mine")
    workspace = Workspace(work)
    await run(work, "read_file", Gatekeeper(), workspace, path="../notes/plan.md")
    assert workspace.seen == {}


async def test_another_object_in_its_place_is_not_read(work: Path) -> None:
    file = work.parent / "notes" / "plan.md"

    def swap() -> None:
        (work / "other").write_text("step SWAPPED")
        os.replace(work / "other", file)

    text, failed = await run(work, "read_file", Gatekeeper(meanwhile=swap), path="../notes/plan.md")
    assert failed
    assert "another file than the one that was shown" in text

    def swap_folder() -> None:
        os.rename(work.parent / "notes", work.parent / "old")
        (work.parent / "notes").mkdir()
        (work.parent / "notes" / "trap").touch()

    text, failed = await run(work, "list_files", Gatekeeper(meanwhile=swap_folder), path="../notes")
    assert failed
    assert "another folder than the one that was shown" in text
    assert "trap" not in text


async def test_a_link_planted_at_the_approved_place_is_not_read(work: Path) -> None:
    file = work.parent / "notes" / "plan.md"

    def swap() -> None:
        file.unlink()
        file.symlink_to("secret.pem")

    text, failed = await run(work, "read_file", Gatekeeper(meanwhile=swap), path=str(file))
    assert failed
    assert "KEY" not in text


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/1/cmdline", "/dev/null", "/sys/kernel"])
async def test_views_of_the_system_are_never_asked_about(work: Path, path: str) -> None:
    gate = Gatekeeper()
    _, failed = await run(work, "list_files" if path == "/sys/kernel" else "read_file", gate, path=path)
    assert failed
    assert gate.asked == []


async def test_what_is_no_file_outside_is_not_asked_about(work: Path) -> None:
    os.mkfifo(work.parent / "notes" / "pipe")
    gate = Gatekeeper()
    for tool, path in (
        ("read_file", "../notes/pipe"),
        ("read_file", "../notes"),
        ("list_files", "../notes/plan.md"),
        ("read_file", "../notes/missing"),
        ("read_file", "~/notes"),
    ):
        _, failed = await run(work, tool, gate, path=path)
        assert failed, path
    assert gate.asked == []


async def test_writing_outside_stays_an_error(work: Path) -> None:
    gate = Gatekeeper()
    text, failed = await run(work, "write_file", gate, path="../notes/plan.md", content="x")
    assert failed
    assert "outside the working folder" in text
    assert gate.asked == []
    assert (work.parent / "notes" / "plan.md").read_text() == "step one\nstep two\n"


async def test_no_descriptor_stays_open(work: Path) -> None:
    workspace = Workspace(work)
    await run(work, "read_file", Gatekeeper(), workspace, path="../notes/plan.md")
    before = len(os.listdir("/proc/self/fd"))
    for path in ("../notes/plan.md", "link"):
        await run(work, "read_file", Gatekeeper(), workspace, path=path)
        await run(work, "search_files", Gatekeeper(), workspace, path=path, pattern="one")
        await run(work, "list_files", Gatekeeper(), workspace, path="../notes")
    assert len(os.listdir("/proc/self/fd")) == before
