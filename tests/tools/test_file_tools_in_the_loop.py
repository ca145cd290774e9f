"""The file tools as the library runs them: batches, overlays, a file that changes under an approval."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from files_host import Host

from tui_agent.agent import (
    Allow,
    CancelSignal,
    Deny,
    Pending,
    ToolCall,
    ToolResultMessage,
    execute_tool_calls,
)
from tui_agent.tools import Workspace, coding_tools
from tui_agent.tools.details import FileChange

Decide = Callable[[int, Pending], Allow | Deny]


class Asked:
    """A gate that remembers what it was shown."""

    def __init__(self, decide: Decide = lambda number, pending: Allow(pending.proposal)) -> None:
        self._decide = decide
        self.batches: list[list[FileChange]] = []

    async def decide(self, batch: Sequence[Pending], signal: CancelSignal) -> Sequence[Allow | Deny]:
        self.batches.append([p.proposal.details for p in batch if isinstance(p.proposal.details, FileChange)])
        return [self._decide(number, pending) for number, pending in enumerate(batch)]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


async def run(host: Host, gate: Asked | None, *calls: tuple[str, dict[str, Any]]) -> list[ToolResultMessage]:
    numbered = [ToolCall(id=f"c{n}", name=name, arguments=args) for n, (name, args) in enumerate(calls)]
    return await execute_tool_calls(numbered, list(host.tools.values()), signal=CancelSignal(), gate=gate)


async def test_two_edits_of_one_file_are_shown_together_and_both_land(host: Host) -> None:
    host.put("f", "one\ntwo\n")
    gate = Asked()
    results = await run(
        host,
        gate,
        ("edit_file", {"path": "f", "old": "one", "new": "1"}),
        ("edit_file", {"path": "f", "old": "1\ntwo", "new": "1\n2"}),
        ("read_file", {"path": "missing"}),
    )
    assert [result.is_error for result in results] == [False, False, True]
    assert [change.after for change in gate.batches[0]] == [b"1\ntwo\n", b"1\n2\n"]
    assert host.get("f") == b"1\n2\n"


async def test_a_declined_first_member_leaves_the_second_to_be_prepared_again(host: Host) -> None:
    host.put("f", "one\n" + "\n" * 20 + "two\n")
    gate = Asked(
        lambda number, pending: (
            Deny("no") if "-one" in pending.proposal.details.diff else Allow(pending.proposal)
        )
    )  # type: ignore[union-attr]
    results = await run(
        host,
        gate,
        ("edit_file", {"path": "f", "old": "one", "new": "1"}),
        ("edit_file", {"path": "f", "old": "two", "new": "2"}),
    )
    assert [result.is_error for result in results] == [True, False]
    assert host.get("f") == b"one\n" + b"\n" * 20 + b"2\n"


async def test_a_file_that_changes_while_it_is_reviewed_is_asked_again(host: Host) -> None:
    host.put("f", "x = 1\n")

    def decide(number: int, pending: Pending) -> Allow:
        if len(gate.batches) == 1:
            host.put("f", "# theirs\nx = 1\n")
        return Allow(pending.proposal)

    gate = Asked(decide)
    results = await run(host, gate, ("edit_file", {"path": "f", "old": "1", "new": "2"}))
    assert not results[0].is_error
    assert len(gate.batches) == 2
    assert gate.batches[1][0].before == b"# theirs\nx = 1\n"
    assert host.get("f") == b"# theirs\nx = 2\n"


async def test_a_parent_swapped_for_a_link_during_the_review_writes_nothing_outside(host: Host) -> None:
    host.put("d/f", "x\n")
    outside = host.root.parent / "outside"
    outside.mkdir(exist_ok=True)
    (outside / "f").write_text("x\n")

    def decide(number: int, pending: Pending) -> Allow:
        if len(gate.batches) == 1:
            (host.root / "d").rename(host.root / "was")
            (host.root / "d").symlink_to(outside)
        return Allow(pending.proposal)

    gate = Asked(decide)
    results = await run(host, gate, ("edit_file", {"path": "d/f", "old": "x", "new": "y"}))
    assert results[0].is_error
    assert "outside" in results[0].text
    assert (outside / "f").read_text() == "x\n"
    assert host.get("was/f") == b"x\n"


async def test_a_link_to_a_protected_place_inside_is_not_followed_after_the_review(host: Host) -> None:
    """What was allowed for one path never happens at another one, even if that is in the folder too."""
    host.put("d/keep", "")
    host.put(".git/keep", "")

    def decide(number: int, pending: Pending) -> Allow | Deny:
        if len(gate.batches) > 1:
            return Deny("another path")
        (host.root / "d").rename(host.root / "was")
        (host.root / "d").symlink_to(".git")
        return Allow(pending.proposal)

    gate = Asked(decide)
    results = await run(host, gate, ("write_file", {"path": "d/config", "content": "evil"}))
    assert results[0].is_error
    assert [batch[0].path for batch in gate.batches] == ["d/config", ".git/config"]
    assert not (host.root / ".git/config").exists()


async def test_a_partly_taken_change_is_the_base_of_the_next(host: Host) -> None:
    host.put("f", "a\n" + "\n" * 20 + "b\n")

    def decide(number: int, pending: Pending) -> Allow:
        if number == 0 and len(gate.batches) == 1:
            assert pending.proposal.amend is not None
            assert isinstance(pending.proposal.details, FileChange)
            taken = pending.proposal.details.model_copy(update={"after": b"A!\n" + b"\n" * 20 + b"b\n"})
            return Allow(pending.proposal.amend(taken))
        return Allow(pending.proposal)

    gate = Asked(decide)
    results = await run(
        host,
        gate,
        ("edit_file", {"path": "f", "old": "a", "new": "A"}),
        ("edit_file", {"path": "f", "old": "b", "new": "B"}),
    )
    assert [result.is_error for result in results] == [False, False]
    assert "changed your proposal" in results[0].text
    assert "+A!" in results[0].text
    assert host.get("f") == b"A!\n" + b"\n" * 20 + b"B\n"


async def test_no_call_leaves_anything_that_cannot_be_sent(host: Host) -> None:
    host.put("\udcff", b"\0\xff")
    host.put("f", b"a\x00b\xed\xa0\x80\xff\x1b[31m")
    results = await run(
        host,
        None,
        ("list_files", {}),
        ("read_file", {"path": "f"}),
        ("read_file", {"path": "\udcff"}),
        ("read_file", {"path": "\ud800"}),
        ("edit_file", {"path": "f\0", "old": "x", "new": "y"}),
        ("search_files", {"pattern": "("}),
        ("write_file", {"path": "\udc80/\x1b", "content": "x"}),
        ("edit_file", {"path": "\udcff", "old": "x", "new": "y"}),
        ("search_files", {"pattern": "x", "path": "\udcff"}),
    )
    assert len(results) == 9
    for result in results:
        assert "\0" not in result.text
        assert "\x1b" not in result.text
        result.model_dump_json().encode()


async def test_a_file_nobody_read_or_saw_is_not_replaced_whoever_lets_it_run(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("precious\n")
    call = ToolCall(id="1", name="write_file", arguments={"path": "a.txt", "content": "new\n"})

    class Waves:
        def __init__(self, by: Any) -> None:
            self.by = by

        async def decide(self, batch: Any, signal: CancelSignal) -> Any:
            return [Allow(pending.proposal, by=self.by) for pending in batch]

    tools = coding_tools(Workspace(tmp_path))
    for gate in (None, Waves("rule"), Waves("mode")):
        [result] = await execute_tool_calls([call], tools, signal=CancelSignal(), gate=gate)
        assert result.is_error
        assert "Read it first" in result.text
        assert (tmp_path / "a.txt").read_text() == "precious\n"
    [result] = await execute_tool_calls([call], tools, signal=CancelSignal(), gate=Waves("user"))
    assert not result.is_error
    assert (tmp_path / "a.txt").read_text() == "new\n"


async def test_the_last_answer_about_a_file_that_kept_changing_counts(host: Host) -> None:
    host.put("f", "one\n")
    gate: Asked

    def meddle(number: int, pending: Pending) -> Allow:
        if len(gate.batches) <= 3:
            host.put("f", f"{len(gate.batches)}\none\n")
        return Allow(pending.proposal)

    gate = Asked(meddle)
    [result] = await run(host, gate, ("edit_file", {"path": "f", "old": "one", "new": "1"}))
    assert not result.is_error
    assert len(gate.batches) == 4
    assert host.get("f") == b"3\n1\n"


async def test_many_agents_that_edit_one_file_at_once_all_land(host: Host) -> None:
    host.put("f", "".join(f"line {n}.\n" for n in range(24)))
    edits = [{"path": "f", "old": f"line {n}.", "new": f"LINE {n}"} for n in range(24)]
    results = await asyncio.gather(*(run(host, None, ("edit_file", edit)) for edit in edits))
    assert [result.text for [result] in results if result.is_error] == []
    assert host.get("f").decode() == "".join(f"LINE {n}\n" for n in range(24))
