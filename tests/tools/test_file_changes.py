"""`edit_file` and `write_file`: what is proposed is what is written, or nothing is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from files_host import Host
from pydantic import ValidationError

from tui_agent.agent import Cancelled, CancelSignal, Proposal, StaleProposal, ToolError, ToolOutput
from tui_agent.tools import NOT_READ
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import FileChange, digest


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def change_of(proposal: Proposal) -> FileChange:
    assert isinstance(proposal.details, FileChange)
    return proposal.details


async def run(proposal: Proposal) -> str:
    output = await proposal.run(CancelSignal())
    assert isinstance(output, ToolOutput)
    assert isinstance(output.content, str)
    assert output.details == proposal.details
    return output.content


async def test_a_proposal_does_nothing_until_it_runs(host: Host) -> None:
    host.put("a.py", "x = 1\n")
    proposal = await host.prepare("edit_file", path="./a.py", old="1", new="2")
    assert (proposal.kind, proposal.targets, proposal.title) == ("write", ("a.py",), "Edit a.py")
    change = change_of(proposal)
    assert (change.before, change.after) == (b"x = 1\n", b"x = 2\n")
    assert host.get("a.py") == b"x = 1\n"
    assert "Edited a.py at line 1 (+1 −1 line)" in await run(proposal)
    assert host.get("a.py") == b"x = 2\n"


async def test_targets_are_real_paths(host: Host) -> None:
    host.put("real/f", "x")
    os.symlink("real", host.root / "link")
    for name, arguments in (("edit_file", {"old": "x", "new": "y"}), ("write_file", {"content": "y"})):
        proposal = await host.prepare(name, path=f"{host.root}/link/f", **arguments)
        assert proposal.targets == ("real/f",)
        assert change_of(proposal).path == "real/f"
    new = await host.prepare("write_file", path="link/new", content="y")
    assert new.targets == ("real/new",)


async def test_two_calls_to_one_file_land_in_order(host: Host) -> None:
    host.put("f", "one two\n")
    first = await host.prepare("edit_file", path="f", old="one", new="1")
    second = await host.prepare("edit_file", first, path="./f", old="1 two", new="1 2")
    assert change_of(second).before == b"1 two\n"
    await run(first)
    await run(second)
    assert host.get("f") == b"1 2\n"


async def test_a_new_file_may_be_edited_in_the_same_reply(host: Host) -> None:
    first = await host.prepare("write_file", path="new", content="x\n")
    second = await host.prepare("edit_file", first, path="new", old="x", new="y")
    third = await host.prepare("write_file", first, second, path="new", content="z\n")
    assert NOT_READ not in change_of(third).facts
    for proposal in (first, second, third):
        await run(proposal)
    assert host.get("new") == b"z\n"


async def test_a_member_whose_base_was_declined_is_stale(host: Host) -> None:
    host.put("f", "one two\n")
    first = await host.prepare("edit_file", path="f", old="one", new="1")
    second = await host.prepare("edit_file", first, path="f", old="two", new="2")
    with pytest.raises(StaleProposal):
        await run(second)
    assert host.get("f") == b"one two\n"
    again = await host.prepare("edit_file", path="f", old="two", new="2")
    await run(again)
    assert host.get("f") == b"one 2\n"


async def test_a_file_that_changed_after_it_was_shown(host: Host) -> None:
    path = host.put("f", "old\n")
    proposal = await host.prepare("edit_file", path="f", old="old", new="new")
    before = path.stat()
    path.write_text("OLD\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(StaleProposal):
        await run(proposal)
    path.write_text("old\n")  # as it was, at another time: not changed
    await run(proposal)
    assert host.get("f") == b"new\n"


async def test_an_unrelated_change_by_another_does_not_stop_an_edit(host: Host) -> None:
    host.put("f", "a\nb\n")
    await host.call("read_file", path="f")
    host.put("f", "A\nb\n")
    assert "Edited" in await host.text("edit_file", path="f", old="b", new="B")
    assert host.get("f") == b"A\nB\n"


async def test_what_a_person_made_of_it_is_written_and_told(host: Host) -> None:
    host.put("f", "a\nb\n")
    proposal = await host.prepare("edit_file", path="f", old="b", new="B")
    assert proposal.amend is not None
    other = proposal.amend(file_change("f", b"ignored", b"a\nbee\n"))
    assert change_of(other).before == b"a\nb\n"
    assert other.hash != proposal.hash
    told = await run(other)
    assert "The user changed your proposal" in told
    assert "+bee" in told
    assert host.get("f") == b"a\nbee\n"
    with pytest.raises(ValueError, match="can be amended"):
        proposal.amend(file_change("g", None, b"x"))
    nothing = proposal.amend(file_change("f", None, b"a\nb\n"))
    with pytest.raises(ToolError, match="Nothing of the change"):
        await run(nothing)


async def test_a_cancelled_signal_stops_before_the_write(host: Host) -> None:
    proposal = await host.prepare("write_file", path="f", content="x")
    signal = CancelSignal()
    signal.cancel()
    with pytest.raises(Cancelled):
        await proposal.run(signal)
    assert host.tree() == set()


async def test_an_unread_file_is_replaced_only_by_a_persons_yes(host: Host) -> None:
    host.put("f", "unknown\n")
    proposal = await host.prepare("write_file", path="f", content="new\n")
    assert NOT_READ in change_of(proposal).facts  # the gate asks a person, whatever rules say
    with pytest.raises(ToolError, match="Read it first"):
        await host.call("write_file", path="f", content="new\n")
    assert host.get("f") == b"unknown\n"
    await host.call("read_file", path="f")
    assert NOT_READ not in change_of(await host.prepare("write_file", path="f", content="new\n")).facts
    host.put("f", "changed since\n")
    with pytest.raises(ToolError, match="Read it first"):
        await host.call("write_file", path="f", content="new\n")
    host.put("f", "unknown\n")
    assert "Replaced f (+1 −1 line)" in await host.text("write_file", path="f", content="new\n")
    assert "Replaced" in await host.text("write_file", path="f", content="newer\n")  # what it wrote, it knows


async def test_an_edit_teaches_the_rest_of_the_file_only_if_it_was_known(host: Host) -> None:
    host.put("f", "a\nb\n")
    await host.call("edit_file", path="f", old="a", new="A")
    assert NOT_READ in change_of(await host.prepare("write_file", path="f", content="x")).facts
    await host.call("read_file", path="f")
    await host.call("edit_file", path="f", old="b", new="B")
    assert NOT_READ not in change_of(await host.prepare("write_file", path="f", content="x")).facts


@pytest.mark.parametrize(
    ("before", "content", "after", "fact"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n", "CRLF"),
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\r\n", "CRLF"),
        (b"a\r\nb\r\n", "x\r\ny\r\n", b"x\r\ny\r\n", ""),
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n", ""),
        (b"a\nb\n", "x\r\ny\n", b"x\r\ny\n", ""),
        (b"caf\xe9\n", "é\n", b"\xc3\xa9\n", "was latin-1"),
        ("\ufeffa\n".encode("utf-16-le"), "x\n", b"x\n", "was utf-16-le"),
        (b"\xef\xbb\xbfa\n", "x\n", b"x\n", "byte order mark dropped"),
        (b"\xef\xbb\xbfa\n", "\ufeffx\n", b"\xef\xbb\xbfx\n", ""),
        (b"", "x\n", b"x\n", ""),
        (b"x", "", b"", ""),
    ],
)
async def test_write_file_over_other_encodings(
    host: Host, before: bytes, content: str, after: bytes, fact: str
) -> None:
    host.put("f", before)
    host.workspace.mark_seen("f", digest(before) or "")
    told = await host.text("write_file", path="f", content=content)
    assert host.get("f") == after
    assert (fact in told) if fact else ("(" not in told.partition(").")[2])


async def test_different_errors_for_different_things(host: Host) -> None:
    host.put("f", "x\n")
    os.mkfifo(host.root / "pipe")
    os.truncate(host.put("large"), 3_000_000_000)
    said: dict[str, str] = {}
    for label, name, arguments in (
        ("missing", "edit_file", {"path": "nope", "old": "a", "new": "b"}),
        ("no match", "edit_file", {"path": "f", "old": "a", "new": "b"}),
        ("pipe", "edit_file", {"path": "pipe", "old": "a", "new": "b"}),
        ("pipe ", "write_file", {"path": "pipe", "content": "b"}),
        ("large", "edit_file", {"path": "large", "old": "a", "new": "b"}),
        ("outside", "write_file", {"path": "../x", "content": "b"}),
        ("folder", "write_file", {"path": ".", "content": "b"}),
        ("below a file", "write_file", {"path": "f/x", "content": "b"}),
        ("no-op", "write_file", {"path": "f", "content": "x\n"}),
    ):
        with pytest.raises(ToolError) as caught:
            await host.call(name, **arguments)
        said[label] = str(caught.value)
    assert len(set(said.values())) == len(said) - 1  # the pipe is the same to both
    assert "3.0 GB" in said["large"]
    assert host.tree() == {"f", "pipe", "large"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("edit_file", {"path": "f", "new": "x"}),
        ("edit_file", {"path": "f", "old": "x"}),
        ("edit_file", {"path": "f", "old": "x", "new": "y", "replace_all": "yes"}),
        ("edit_file", {"path": "f", "old": "x", "new": "y", "replace_all": 1}),
        ("edit_file", {"path": "f", "old": None, "new": "y"}),
        ("edit_file", {"path": "f", "old": "x", "new": "y", "extra": 1}),
        ("write_file", {"path": "f"}),
        ("write_file", {"path": "f", "content": 5}),
        ("write_file", {"path": "f", "content": "\ud800"}),
        ("write_file", {"path": 5, "content": "x"}),
        ("write_file", {"content": "x"}),
    ],
)
def test_arguments_are_never_guessed(host: Host, name: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        host.arguments(name, arguments)


async def test_in_place_is_said_in_the_review_and_in_the_result(host: Host) -> None:
    path = host.put("f", "x")
    os.link(path, host.root / "g")
    proposal = await host.prepare("edit_file", path="f", old="x", new="y")
    assert "written in place: it has hard links" in change_of(proposal).facts
    assert "written in place" in await run(proposal)
    assert host.get("g") == b"y"


@pytest.mark.parametrize("data", [b"\0\1\2", b"\x89PNG\r\n\x1a\n\0", b"a\0b\n", b"\xff\xfea\0b"])
async def test_what_no_diff_can_show_is_not_replaced(host: Host, data: bytes) -> None:
    host.put("f", data)
    with pytest.raises(ToolError, match="is not text"):
        await host.prepare("write_file", path="f", content="text\n")
    assert host.get("f") == data


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("write_file", {"content": "a\0b"}), ("edit_file", {"old": "a", "new": "\0"})],
)
def test_text_that_would_make_a_binary_is_refused(host: Host, name: str, arguments: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="without NUL"):
        host.arguments(name, {"path": "f", **arguments})
