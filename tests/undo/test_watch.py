"""What commands change: found by looking from outside, held where it was known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from undo_host import Host

from tui_agent.agent import FileChanged
from tui_agent.agent.events import UNKNOWN
from tui_agent.tools.details import digest
from tui_agent.tools.ignore import Ignore
from tui_agent.tools.stamps import differing, look
from tui_agent.undo.plan import OfCall, OfFile, OfTurn, Plan, Refusal
from tui_agent.undo.watch import LISTED


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    host.turn()
    return host


def paths(changed: list[FileChanged]) -> list[str]:
    return [change.path for change in changed]


def test_made_changed_removed_and_moved_files_are_found(host: Host) -> None:
    for name in ("same", "touched", "gone", "old", "sub/deep"):
        host.put(name, b"1\n")
    host.workspace.seen["touched"] = ""
    changed = host.command("touch touched; rm gone; mv old new; echo 2 >> sub/deep; mkdir e; cat same")
    assert paths(changed) == ["gone", "new", "old", "sub/deep"]
    by_path = {change.path: change for change in changed}
    assert (by_path["new"].before, by_path["new"].after) == (None, digest(b"1\n"))
    assert (by_path["sub/deep"].before, by_path["sub/deep"].after) == (UNKNOWN, digest(b"1\n2\n"))
    assert {change.call_id for change in changed} == {"call-1"}


def test_what_was_read_can_be_undone_what_was_not_is_only_listed(host: Host) -> None:
    host.put("read", b"read\n", 0o600)
    host.put("unread", b"unread\n")
    host.workspace.seen["read"] = digest(b"read\n") or ""
    host.command("echo x > read; echo x > unread; echo x > made; chmod 755 read")
    planned = host.undo(OfCall("call-1"))
    assert isinstance(planned, Plan)
    assert [(c.path, c.reason) for c in planned.left] == [("unread", "its earlier content is not held")]
    assert host.tree() == {"read": (b"read\n", 0o600), "unread": (b"x\n", 0o644)}
    assert isinstance(host.undo(OfFile("unread")), Refusal)


@pytest.mark.parametrize(
    ("command", "mode"),
    [
        ("rm f", 0o750),
        ("chmod 444 f", 0o640),
        ("echo x > f; chmod 400 f", 0o640),
        ("chmod u+w f; echo x > f", 0o444),
        ("chmod u+w f; echo x > f; chmod 444 f", 0o444),
        ("cp f g; rm f; echo new > f", 0o4755),
    ],
)
def test_content_and_mode_come_back(host: Host, command: str, mode: int) -> None:
    host.put("f", b"content\n", mode)
    host.workspace.seen["f"] = ""
    before = host.tree()
    host.command(command)
    after = host.tree()
    assert isinstance(host.undo(OfTurn(1)), Plan)
    assert host.tree() == before
    assert isinstance(host.undo(OfCall("undo-1")), Plan)
    assert host.tree() == after


def test_a_read_only_file_that_a_command_made_goes(host: Host) -> None:
    host.command("echo x > f; chmod 400 f")
    host.undo(OfTurn(1))
    assert host.tree() == {}


def test_only_a_change_of_mode_is_left_alone_by_an_undo_of_content(host: Host) -> None:
    host.put("f", b"1\n", 0o644)
    host.write("f", b"2\n")
    (host.root / "f").chmod(0o755)
    host.undo(OfCall("call-1"))
    assert host.tree() == {"f": (b"1\n", 0o755)}


def test_what_a_command_did_after_us_is_not_overwritten(host: Host) -> None:
    host.put("f", b"1\n")
    host.write("f", b"2\n")
    host.command("echo 3 >> f")
    result = host.undo(OfCall("call-1"))
    assert isinstance(result, Refusal)
    assert "changed again by run_command in turn 1" in result.conflicts[0].reason
    host.undo(OfFile("f"))
    assert host.get("f") == b"1\n"


def test_a_change_that_restores_size_and_times_is_seen_in_what_we_know(host: Host) -> None:
    host.put("f", b"aaaa\n")
    host.workspace.seen["f"] = ""
    changed = host.command("touch -r f t; printf 'bbbb\\n' > f; touch -r t f; rm t")
    assert [(c.before, c.after) for c in changed] == [(digest(b"aaaa\n"), digest(b"bbbb\n"))]


def test_ignored_files_count_only_if_we_know_them(host: Host) -> None:
    host.put(".gitignore", b"*.o\nbuild/\n")
    host.put("build/known", b"1")
    host.workspace.seen["build/known"] = ""
    changed = host.command("mkdir -p .git; echo > .git/x; echo > a.o; echo > build/b; echo 2 > build/known")
    assert paths(changed) == ["build/known"]


def test_links_and_pipes_are_not_files_and_nothing_waits(host: Host, tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"1")
    host.put("f", b"1")
    host.workspace.seen["f"] = ""
    changed = host.command("mkfifo pipe; ln -s ../outside l; rm f; ln -s ../outside f; echo > ../outside")
    assert [(c.path, c.after) for c in changed] == [("f", None)]
    assert isinstance(host.undo(OfTurn(1)), Refusal)
    assert (tmp_path / "outside").read_bytes() == b"\n"


def test_a_command_that_changes_very_many_files_is_cut_and_said(host: Host) -> None:
    changed = host.command(f"for i in $(seq {LISTED + 20}); do echo > f$i; done")
    assert len(changed) == LISTED
    assert any(f"changed {LISTED + 20} files" in word for word in host.told)


def test_a_look_that_was_cut_tells_neither_new_nor_missing_files(host: Host) -> None:
    for n in range(20):
        host.put(f"d{n}/f", b"1")
    ignore = Ignore(host.workspace)
    whole = look(host.workspace, ignore)
    cut = look(host.workspace, ignore, most=5)
    assert whole.whole
    assert not cut.whole
    assert 5 <= len(cut.files) < 20
    assert differing(cut, whole) == differing(whole, cut) == []
    some = next(iter(cut.files))
    os.utime(host.root / some, ns=(1, 1))
    assert differing(cut, look(host.workspace, ignore)) == [some]


def test_the_person_s_own_changes_between_commands_are_not_the_command_s(host: Host) -> None:
    host.put("f", b"1")
    host.command("true")
    host.put("f", b"theirs")
    assert host.command("cat f") == []


def test_a_file_that_may_not_be_read_has_changed_and_is_not_gone(host: Host) -> None:
    host.put("secret", b"1\n")
    host.workspace.seen["secret"] = ""
    host.workspace.may_read = lambda path: path != "secret"
    (change,) = host.command("echo 2 >> secret")
    assert (change.before, change.after) == (UNKNOWN, UNKNOWN)
    (gone,) = host.command("rm secret")
    assert (gone.before, gone.after) == (UNKNOWN, None)
    assert not host.changes.checkpoints.folder.exists()


def test_what_is_known_is_followed_also_where_the_look_is_cut(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tui_agent.undo.watch.look", lambda workspace, ignore: look(workspace, ignore, most=0)
    )
    for name in ("gone", "changed", "same"):
        host.put(name, b"1\n")
    host.workspace.seen |= dict.fromkeys(("gone", "changed", "same", "absent"), "")
    changed = host.command("rm gone; echo 2 >> changed; touch same; echo > absent; echo > unknown")
    assert paths(changed) == ["absent", "changed", "gone"]
    assert any("too large" in word for word in host.told)
