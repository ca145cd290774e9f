"""The exported patch against real git, both ways."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from undo_host import Host

from tui_agent.undo.patch import Side, file_patch

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

Files = dict[str, tuple[bytes, int]]

names = st.sampled_from(
    ["a.py", "dir/b", "with space", 'q"uote', "tab\there", "ü\u202e", "-dash", "new\nline"]
)
lines = st.sampled_from(
    [b"one\n", b"two\n", b"three\r\n", b"\xff\xe4\n", b"-- x\n", b"+++ b/x\n", b"\r", b"\0\n"]
)
contents = st.lists(lines, max_size=12).map(b"".join) | st.sampled_from([b"no end", b"one\ntwo", b"\0" * 70])
trees = st.dictionaries(names, st.tuples(contents, st.sampled_from([0o644, 0o755])), max_size=4)


def put(folder: Path, files: Files) -> None:
    for name, (data, mode) in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode)


def got(folder: Path) -> Files:
    return {
        str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mode & 0o777)
        for p in folder.rglob("*")
        if p.is_file() and ".git" not in p.parts
    }


def git(folder: Path, *arguments: str) -> None:
    run = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode("utf-8", "replace")


@settings(max_examples=60, deadline=None)
@given(before=trees, after=trees)
def test_git_applies_it_and_takes_it_back(
    tmp_path_factory: pytest.TempPathFactory, before: Files, after: Files
) -> None:
    folder = tmp_path_factory.mktemp("apply")
    put(folder, before)
    patch = b"".join(
        file_patch(name, *(Side(*files[name]) if name in files else Side(None) for files in (before, after)))
        for name in sorted({*before, *after})
    )
    assert (patch == b"") is (before == after)
    if patch:
        (folder.parent / f"{folder.name}.patch").write_bytes(patch)
        git(folder, "apply", "--whitespace=nowarn", f"../{folder.name}.patch")
        assert got(folder) == after
        git(folder, "apply", "-R", "--whitespace=nowarn", f"../{folder.name}.patch")
        assert got(folder) == before


def test_a_session_is_exported_as_one_patch(tmp_path: Path) -> None:
    host = Host(tmp_path)
    put(host.root, {"a": (b"1\n2\n", 0o644), "run": (b"x", 0o644), "gone": (b"\0\1", 0o644)})
    start = host.tree()
    host.workspace.seen.update({"run": "", "gone": ""})
    host.turn()
    host.write("a", b"1\nII\n")
    host.write("n/new", b"")
    host.write("back", b"b")
    host.command("chmod 755 run; rm gone back; echo hidden > unread")
    export = host.changes.export()
    assert (len(export.parts), export.left_out) == (5, ())
    after = host.tree()
    copy = tmp_path / "copy"
    copy.mkdir()
    put(copy, start)
    (tmp_path / "p").write_bytes(export.patch)
    git(copy, "apply", "../p")
    assert got(copy) == after


def test_what_is_not_held_is_named(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.put("never-read", b"1")
    host.turn()
    host.command("echo 22 > never-read; echo > b")
    export = host.changes.export()
    assert export.left_out == ("never-read",)
    assert list(export.parts) == ["b"]
