"""Undo on real files: exactly back, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from undo_host import Host

from tui_agent.tools.details import digest
from tui_agent.tools.hunks import Diff
from tui_agent.undo.changes import UndoError
from tui_agent.undo.plan import OfCall, OfFile, OfHunk, OfTurn, Plan, Refusal, becomes


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    host.put("a.py", b"one\ntwo\nthree\n", 0o640)
    host.turn()
    return host


def refused(result: Plan | Refusal) -> str:
    assert isinstance(result, Refusal)
    return " ".join([result.reason, *(f"{c.path}: {c.reason}" for c in result.conflicts)])


def test_a_file_a_call_and_a_turn_go_back_and_forth(host: Host) -> None:
    start = host.tree()
    host.write("a.py", b"ONE\n")
    one = host.tree()
    host.turn()
    second = host.write("a.py", b"TWO")
    host.write("deep/new.txt", b"new")
    two = host.tree()
    assert isinstance(host.undo(OfCall(second)), Plan)
    assert host.get("a.py") == b"ONE\n"
    assert isinstance(host.undo(OfTurn(2)), Plan)
    assert host.tree() == one
    assert host.changes.latest() == OfTurn(1)
    host.undo(OfTurn(1))
    assert host.tree() == start
    assert host.changes.latest() is None
    for identity in ("undo-3", "undo-2", "undo-1"):
        assert isinstance(host.undo(OfCall(identity)), Plan)
    assert host.tree() == two
    assert host.changes.latest() == OfTurn(2)
    assert isinstance(host.undo(OfFile("a.py")), Plan)
    assert host.get("a.py") == b"one\ntwo\nthree\n"
    assert host.get("deep/new.txt") == b"new"


def test_since_a_turn_is_less_than_since_the_session(host: Host) -> None:
    host.write("a.py", b"1\n")
    host.turn()
    host.write("a.py", b"2\n")
    host.write("a.py", b"3\n")
    host.undo(OfFile("a.py", 2))
    assert host.get("a.py") == b"1\n"


def folders(host: Host) -> list[str]:
    return sorted(str(path.relative_to(host.root)) for path in host.root.rglob("*") if path.is_dir())


def test_folders_that_were_made_for_files_go_with_the_last_of_them(host: Host) -> None:
    (host.root / "theirs").mkdir()
    host.write("theirs/one/two/a", b"a")
    host.write("theirs/one/b", b"b")
    host.undo(OfFile("theirs/one/two/a"))
    assert folders(host) == ["theirs", "theirs/one"]
    host.reopen()
    host.undo(OfFile("theirs/one/b"))
    assert folders(host) == ["theirs"]
    host.undo(OfCall("undo-1"))
    host.undo(OfCall("undo-3"))
    assert folders(host) == ["theirs"]


def test_it_is_said_that_a_folder_goes_along(host: Host) -> None:
    host.write("new/a", b"a")
    host.write("b", b"b")
    planned = host.changes.plan(OfTurn(1))
    assert isinstance(planned, Plan)
    words = {r.path: becomes(r, host.changes.ledger, host.changes.content) for r in planned.restores}
    assert "as was its folder" in words["new/a"]
    assert "folder" not in words["b"]


def test_a_folder_with_anything_in_it_stays(host: Host) -> None:
    host.write("new/deep/a", b"a")
    host.put("new/mine", b"")
    host.undo(OfTurn(1))
    assert folders(host) == ["new"]
    assert host.get("new/mine") == b""


def test_a_folder_that_another_made_since_stays(host: Host) -> None:
    host.write("new/a", b"a")
    host.undo(OfTurn(1))
    (host.root / "new").mkdir()
    host.write("new/b", b"b")
    host.undo(OfFile("new/b"))
    assert folders(host) == ["new"]


def test_folders_stay_when_an_undo_fails_half_way(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.write("new/a", b"a")
    host.write("zz", b"z")
    planned = host.changes.plan(OfTurn(1))
    assert isinstance(planned, Plan)
    delete = host.workspace.delete

    def fail(path: str, *, base: str) -> None:
        if path == "zz":
            raise OSError("no")
        delete(path, base=base)

    monkeypatch.setattr(host.workspace, "delete", fail)
    with pytest.raises(UndoError, match="Nothing was undone"):
        host.changes.carry_out(planned)
    assert host.get("new/a") == b"a"
    monkeypatch.undo()
    host.undo(OfTurn(1))
    assert folders(host) == []


def test_what_a_person_changed_since_is_not_overwritten(host: Host) -> None:
    host.write("a.py", b"ours\n")
    host.write("b.py", b"b\n")
    host.put("a.py", b"ours\nand theirs\n")
    for target in (OfFile("a.py"), OfCall("call-1"), OfTurn(1)):
        result = host.undo(target)
        assert "changed since, by you" in refused(result)
        assert isinstance(result, Refusal)
        difference = host.changes.difference(result.conflicts[0])
        assert difference is not None
        assert "+and theirs" in difference.diff
    assert host.get("a.py") == b"ours\nand theirs\n"
    assert host.get("b.py") == b"b\n"


@pytest.mark.parametrize("what", ["gone", "a folder", "a link", "a link out"])
def test_what_is_no_longer_that_file_is_left_alone(host: Host, what: str, tmp_path: Path) -> None:
    host.write("a.py", b"ours\n")
    place = host.root / "a.py"
    place.unlink()
    (tmp_path / "outside").write_bytes(b"ours\n")
    (host.root / "other").write_bytes(b"ours\n")
    if what == "a folder":
        place.mkdir()
    elif what != "gone":
        place.symlink_to(tmp_path / "outside" if what == "a link out" else "other")
    refused(host.undo(OfFile("a.py")))
    assert (host.root / "other").read_bytes() == (tmp_path / "outside").read_bytes() == b"ours\n"


def test_a_change_in_between_is_not_lost(host: Host) -> None:
    host.write("a.py", b"first\n")
    host.put("a.py", b"theirs\n")
    host.write("a.py", b"second\n")
    assert "in between" in refused(host.undo(OfFile("a.py")))
    host.undo(OfCall("call-2"))
    assert host.get("a.py") == b"theirs\n"
    assert "changed since" in refused(host.undo(OfCall("call-1")))


def test_a_call_under_a_later_one_names_it(host: Host) -> None:
    host.write("a.py", b"1\n")
    host.write("a.py", b"2\n")
    assert "changed again by write_file in turn 1" in refused(host.undo(OfCall("call-1")))


def test_nothing_left_is_said(host: Host) -> None:
    host.write("a.py", b"1\n")
    host.undo(OfTurn(1))
    assert "nothing left" in refused(host.undo(OfTurn(1)))
    assert "nothing left" in refused(host.undo(OfTurn(9)))
    assert "nothing left" in refused(host.undo(OfCall("no such call")))


def test_a_file_that_is_back_already_does_not_count(host: Host) -> None:
    """As after a crash in the middle of an undo."""
    host.write("a.py", b"1\n")
    host.write("b.py", b"1\n")
    host.put("a.py", b"one\ntwo\nthree\n", 0o640)
    result = host.undo(OfTurn(1))
    assert isinstance(result, Plan)
    assert [restore.path for restore in result.restores] == ["b.py"]
    assert host.get("b.py") is None


def test_a_crash_and_a_resume_keep_all_of_it(host: Host) -> None:
    start = host.tree()
    host.write("a.py", b"\xff\x00\r\n")
    host.write("n", b"")
    host.undo(OfFile("n"))
    host.reopen()
    assert isinstance(host.undo(OfTurn(1)), Plan)
    assert host.tree() == start
    host.reopen()
    assert isinstance(host.undo(OfCall("undo-2")), Plan)
    assert host.get("a.py") == b"\xff\x00\r\n"


def test_what_can_not_be_kept_is_said_and_not_offered(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host.changes.checkpoints, "_largest", 5)
    host.write("a.py", b"x")
    assert any("over 5 B" in word for word in host.told)
    assert "not held" in refused(host.undo(OfFile("a.py")))
    assert host.get("a.py") == b"x"


def test_all_or_nothing(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.write("a.py", b"1\n")
    host.write("b.py", b"1\n")
    host.write("c.py", b"1\n")
    before = host.tree()
    real, calls = host.workspace.delete, []

    def delete(path: str, **options: Any) -> None:
        calls.append(path)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(path, **options)

    monkeypatch.setattr(host.workspace, "delete", delete)
    planned = host.changes.plan(OfTurn(1))
    assert isinstance(planned, Plan)
    with pytest.raises(UndoError, match=r"No space.*Nothing was undone"):
        host.changes.carry_out(planned)
    assert host.tree() == before


def test_a_file_that_changes_after_the_plan_stops_it(host: Host) -> None:
    host.write("a.py", b"1\n")
    host.write("b.py", b"1\n")
    planned = host.changes.plan(OfTurn(1))
    assert isinstance(planned, Plan)
    host.put("b.py", b"theirs\n")
    with pytest.raises(UndoError, match=r"b\.py changed meanwhile"):
        host.changes.carry_out(planned)
    assert (host.get("a.py"), host.get("b.py")) == (b"1\n", b"theirs\n")


def test_a_hunk_goes_back_alone(host: Host) -> None:
    old = b"".join(b"line %d\n" % n for n in range(40))
    host.put("long", old)
    new = old.replace(b"line 3\n", b"three\n").replace(b"line 30\n", b"thirty\n")
    host.write("long", new)
    diff = Diff(old, new)
    target = OfHunk("long", digest(old), digest(new), frozenset(diff.hunks[1].keys))
    assert isinstance(host.undo(target), Plan)
    assert host.get("long") == old.replace(b"line 3\n", b"three\n")
    assert "changed since" in refused(host.undo(target))
    host.undo(OfCall("undo-1"))
    assert host.get("long") == new
    host.undo(target)
    host.undo(OfFile("long"))
    assert host.get("long") == old


def test_the_only_hunk_of_a_new_file_removes_it(host: Host) -> None:
    host.write("n", b"x\n")
    keys = frozenset(Diff(None, b"x\n").keys)
    host.undo(OfHunk("n", None, digest(b"x\n"), keys))
    assert host.get("n") is None


def test_the_model_is_told_once_what_is_not_as_it_left_it(host: Host) -> None:
    host.write("a.py", b"1\n")
    host.write("b.py", b"1\n")
    assert host.changes.untold() == ""
    host.undo(OfTurn(1))
    host.undo(OfCall("undo-1"))
    assert host.changes.untold() == ""
    host.undo(OfTurn(1))
    host.reopen()
    note = host.changes.untold()
    assert "- a.py was changed back" in note
    assert "- b.py does not exist any more" in note
    host.turn()
    assert host.changes.untold() == ""


Action = tuple[str, int, bytes]
actions = st.lists(
    st.tuples(
        st.sampled_from(["write", "turn", "undo file", "undo turn", "undo call", "redo", "reopen"]),
        st.integers(0, 2),
        st.sampled_from([b"", b"a\n", b"b", b"\r\n\0", b"a\nb\n" * 9]),
    ),
    max_size=14,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(plan=actions)
def test_any_sequence_can_be_taken_back_to_the_exact_bytes(
    tmp_path_factory: pytest.TempPathFactory, plan: list[Action]
) -> None:
    host = Host(tmp_path_factory.mktemp("undo"))
    host.put("0", b"zero\n", 0o755)
    host.put("1", b"\xff\xfe\0", 0o600)
    start = host.tree()
    host.turn()
    for action, which, data in plan:
        path = str(which)
        before = host.tree()
        match action:
            case "write":
                if host.get(path) != data:
                    host.write(path, data)
            case "turn":
                host.turn()
            case "undo file":
                host.undo(OfFile(path))
                was = start.get(path)
                assert host.tree().get(path) == was
            case "undo turn":
                host.undo(OfTurn(max(1, host.changes.ledger.turn - which)))
            case "undo call":
                host.undo(OfCall(f"call-{host.calls - which}"))
            case "redo":
                planned = host.undo(OfCall(f"undo-{host.changes.ledger.undos}"))
                if isinstance(planned, Plan):
                    for restore in planned.restores:
                        assert digest(host.get(restore.path)) == restore.wanted.hash
            case "reopen":
                host.reopen()
        if action not in ("write", "turn", "reopen"):
            untouched = set(before) - set(host.changes.ledger.files)
            assert {p: before[p] for p in untouched} == {p: host.tree()[p] for p in untouched}
    while (target := host.changes.latest()) is not None:
        assert isinstance(host.undo(target), Plan), host.changes.ledger
    for path in ("0", "1", "2"):
        host.undo(OfFile(path))
    assert host.tree() == start
