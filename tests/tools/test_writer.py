"""The one writer: what is kept, what is refused, and what is there after a failure or a kill."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from files_host import NOBODY, Host, as_nobody

from tui_agent.agent import StaleProposal, ToolError
from tui_agent.tools import Workspace, temp, writer
from tui_agent.tools.details import digest
from tui_agent.tools.sweep import sweep

ROOT = os.geteuid() == 0


@pytest.fixture(params=["unnamed", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With files without a name, and as on a file system that has none."""
    if request.param == "named":
        monkeypatch.setattr(temp, "_UNNAMED", None)
    return str(request.param)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user reaches."""
    path = Path(tempfile.mkdtemp(prefix="tui-agent-test-"))
    path.chmod(0o777)
    yield path
    for folder in path.rglob("*"):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o700)
    shutil.rmtree(path)


def replace(root: Path, name: str, data: bytes) -> None:
    Workspace(root).write(name, data, base=digest((root / name).read_bytes()))


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("mode", [0o755, 0o640, 0o600, 0o4755, 0o444 | 0o200])
def test_mode_bits_stay(tmp_path: Path, mode: int) -> None:
    path = Host(tmp_path).put("run.sh", "old")
    path.chmod(mode)
    replace(tmp_path, "run.sh", b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o000])
def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        Workspace(tmp_path).write("a/b/c", b"x", base=None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a/b/c").stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE((tmp_path / "a/b").stat().st_mode) == 0o777 & ~umask
    assert Host(tmp_path).tree() == {"a", "a/b", "a/b/c"}


def acl(user: int) -> bytes:
    """A POSIX ACL as the kernel stores it: owner rw, this user r, group r, mask r, others none."""
    none = 0xFFFFFFFF
    rows = [(0x01, 6, none), (0x02, 4, user), (0x04, 4, none), (0x10, 4, none), (0x20, 0, none)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


@pytest.mark.usefixtures("way")
def test_attributes_and_acl_stay(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old")
    try:
        os.setxattr(path, "user.note", b"kept")
        os.setxattr(path, "system.posix_acl_access", acl(NOBODY))
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    before = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    replace(tmp_path, "f", b"new")
    assert path.read_bytes() == b"new"
    assert {name: os.getxattr(path, name) for name in os.listxattr(path)} == before


@pytest.mark.usefixtures("way")
def test_a_default_acl_of_the_folder_is_not_added(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old")
    path.chmod(0o640)
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", acl(NOBODY))
    except OSError as error:
        pytest.skip(f"this file system has none: {error}")
    replace(tmp_path, "f", b"new")
    assert "system.posix_acl_access" not in os.listxattr(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old")
    os.chown(path, NOBODY, NOBODY)
    replace(tmp_path, "f", b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, NOBODY)


def test_hard_links_are_written_in_place_after_the_old_bytes_are_kept(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old and longer")
    os.link(path, tmp_path / "g")
    workspace = Workspace(tmp_path)
    assert workspace.target("f") == ("f", "written in place: it has hard links")
    kept: list[tuple[str, bytes | None, bytes]] = []

    def keep(name: str, before: bytes | None) -> bool:
        kept.append((name, before, path.read_bytes()))
        return True

    workspace.before_write = keep
    workspace.write("f", b"new", base=digest(b"old and longer"))
    assert path.read_bytes() == (tmp_path / "g").read_bytes() == b"new"
    assert path.stat().st_nlink == 2
    assert kept == [("f", b"old and longer", b"old and longer")]


def test_nothing_is_written_in_place_whose_old_bytes_cannot_be_kept(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old")
    workspace = Workspace(tmp_path)
    workspace.before_write = lambda name, before: False
    workspace.write("f", b"newer", base=digest(b"old"))  # replaced in one step: nothing can be lost
    os.link(path, tmp_path / "g")
    with pytest.raises(ToolError, match="hard links, and its old content can't be kept first"):
        workspace.write("f", b"newest", base=digest(b"newer"))
    assert path.read_bytes() == b"newer"


def test_what_another_user_owns_is_written_in_place_or_refused(open_folder: Path) -> None:
    if not ROOT:
        pytest.skip("only root has files of two users")
    for name, mode in (("theirs", 0o666), ("closed", 0o644), ("locked", 0o444)):
        Host(open_folder).put(name, "old").chmod(mode)

    def work() -> None:
        workspace = Workspace(open_folder)
        assert workspace.target("theirs") == ("theirs", "written in place: another owner")
        workspace.write("theirs", b"new", base=digest(b"old"))
        for name in ("closed", "locked"):
            for attempt in (
                lambda: workspace.target(name),  # noqa: B023
                lambda: workspace.write(name, b"new", base=digest(b"old")),  # noqa: B023
            ):
                with pytest.raises(ToolError, match="permission denied"):
                    attempt()

    as_nobody(work)
    assert (open_folder / "theirs").read_bytes() == b"new"
    assert (open_folder / "theirs").stat().st_uid == 0
    assert (open_folder / "closed").read_bytes() == b"old"


def test_a_read_only_folder_lets_files_be_written_in_place_and_none_be_made(open_folder: Path) -> None:
    def work() -> None:
        (open_folder / "d").mkdir()
        host = Host(open_folder)
        host.put("d/f", "old")
        (open_folder / "d").chmod(0o555)
        assert host.workspace.target("d/f") == ("d/f", "written in place: its folder is read-only")
        host.workspace.write("d/f", b"new", base=digest(b"old"))
        assert host.get("d/f") == b"new"
        with pytest.raises(ToolError, match="permission denied"):
            host.workspace.write("d/new", b"x", base=None)
        assert host.tree() == {"d", "d/f"}

    as_nobody(work)


def test_a_read_only_file_is_refused_and_stays_read_only(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old")
    path.chmod(0o444)
    for attempt in (lambda: Workspace(tmp_path).target("f"), lambda: replace(tmp_path, "f", b"new")):
        with pytest.raises(ToolError, match="permission denied"):
            attempt()
    assert path.read_bytes() == b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("data", [b"", b"same", b"\0" * 100_000])
def test_only_the_content_that_was_reviewed_is_replaced(tmp_path: Path, data: bytes) -> None:
    path = Host(tmp_path).put("f", "other")
    before = path.stat()
    path.write_bytes(b"OTHER")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, same time: only the hash tells
    workspace = Workspace(tmp_path)
    with pytest.raises(StaleProposal, match="changed"):
        workspace.write("f", data, base=digest(b"other"))
    assert path.read_bytes() == b"OTHER"
    os.utime(path)  # touched only
    workspace.write("f", data, base=digest(b"OTHER"))
    assert path.read_bytes() == data
    assert Host(tmp_path).tree() == {"f"}


@pytest.mark.usefixtures("way")
def test_gone_or_appeared_meanwhile(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with pytest.raises(StaleProposal):
        workspace.write("gone", b"x", base=digest(b"old"))
    Host(tmp_path).put("there", "theirs")
    with pytest.raises(StaleProposal):
        workspace.write("there", b"x", base=None)
    # It appears after the last look, in a folder that had to be made:
    workspace.before_write = lambda path, before: bool(Host(tmp_path).put("a/late", "theirs"))
    with pytest.raises(StaleProposal):
        workspace.write("a/late", b"x", base=None)
    assert (tmp_path / "a/late").read_bytes() == b"theirs"
    assert Host(tmp_path).tree() == {"there", "a", "a/late"}


@pytest.mark.usefixtures("way")
def test_a_write_by_another_between_look_and_rename_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Host(tmp_path).put("f", "old")
    fill = temp.Temp.fill

    def meanwhile(self: temp.Temp, data: bytes) -> None:
        fill(self, data)
        path.write_bytes(b"theirs")

    monkeypatch.setattr(temp.Temp, "fill", meanwhile)
    with pytest.raises(StaleProposal):
        replace(tmp_path, "f", b"new")
    assert path.read_bytes() == b"theirs"
    assert Host(tmp_path).tree() == {"f"}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("name", ["old", "linked", "made/new"])
def test_a_failing_write_leaves_the_old_content_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, name: str
) -> None:
    host = Host(tmp_path)
    for existing in ("old", "linked"):
        host.put(existing, "old content " * 50)
    os.link(tmp_path / "linked", tmp_path / "other")
    before = {path: host.get(path) for path in host.tree()}
    real, failed = os.write, []

    def failing(fd: int, data: bytes) -> int:
        if failed or len(data) <= 300:
            return real(fd, data)
        if len(data) > 500:
            return real(fd, bytes(data)[:200])
        failed.append(fd)
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "write", failing)
    base = digest(before[name]) if name in before else None
    with pytest.raises(ToolError):
        host.workspace.write(name, b"N" * 601, base=base)
    assert failed
    assert {path: host.get(path) for path in host.tree()} == before


@pytest.mark.skipif(not ROOT or shutil.which("mount") is None, reason="needs a small file system")
def test_a_full_disk(tmp_path: Path) -> None:
    script = f"""
import os, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", {str(tmp_path)!r}], check=True)
from tui_agent.agent import ToolError
from tui_agent.tools import Workspace
from tui_agent.tools.details import digest
root = {str(tmp_path)!r}
open(root + "/f", "wb").write(b"old" * 1000)
os.link(root + "/f", root + "/g")
open(root + "/h", "wb").write(b"old" * 1000)
for name in ("f", "h", "new"):
    base = digest(b"old" * 1000) if name != "new" else None
    try:
        Workspace(root).write(name, b"n" * 200_000, base=base)
    except ToolError as error:
        assert "disk is full" in str(error), error
    else:
        raise SystemExit(name + " was written")
assert sorted(os.listdir(root)) == ["f", "g", "h"]
assert all(open(root + "/" + n, "rb").read() == b"old" * 1000 for n in "fgh")
"""
    unshare = ["unshare", "--mount", "--propagation", "private"]
    if subprocess.run([*unshare, "true"], check=False, capture_output=True).returncode:
        pytest.skip("no mount namespaces here")
    done = subprocess.run(
        [*unshare, sys.executable, "-c", script], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_delete_checks_the_content_and_keeps_it_first(tmp_path: Path) -> None:
    Host(tmp_path).put("f", "old")
    workspace = Workspace(tmp_path)
    kept: list[tuple[str, bytes | None]] = []
    workspace.before_write = lambda path, before: kept.append((path, before)) is None
    with pytest.raises(StaleProposal):
        workspace.delete("f", base=digest(b"other") or "")
    workspace.delete("f", base=digest(b"old") or "")
    assert not (tmp_path / "f").exists()
    assert kept == [("f", b"old")]


def test_strays_of_the_dead_are_swept_and_those_of_the_living_are_not(tmp_path: Path) -> None:
    host = Host(tmp_path)
    (tmp_path / "d").mkdir()
    for name in (
        ".tui-agent-0123456789abcdef.tmp",
        "d/.tui-agent-fedcba9876543210.tmp",
        "d/.tui-agent-x.tmp",
    ):
        host.put(name, "half")
    folder = os.open(tmp_path, os.O_RDONLY)
    with temp.Temp(folder, 0o600) as living:
        living._link(".tui-agent-aaaaaaaaaaaaaaaa.tmp")
        assert sweep(host.workspace) == 2
        assert host.tree() == {"d", "d/.tui-agent-x.tmp", ".tui-agent-aaaaaaaaaaaaaaaa.tmp"}
    os.close(folder)
    assert sweep(host.workspace) == 1


WRITER = """
import itertools, os, sys
from tui_agent.tools import Workspace, temp
from tui_agent.tools.details import digest
if sys.argv[2] == "named":
    temp._UNNAMED = None
workspace = Workspace(sys.argv[1])
data = {letter: (letter * 200_000).encode() for letter in "ab"}
print("ready", flush=True)
for turn in itertools.count():
    old, new = ("a", "b") if turn % 2 == 0 else ("b", "a")
    workspace.write("f", data[new], base=digest(data[old]))
    workspace.write(f"made/{turn}", data[new], base=None)
"""


@pytest.mark.heavy
@pytest.mark.parametrize("way", ["unnamed", "named"])
def test_kills_at_random_moments_leave_whole_files_and_no_strays(tmp_path: Path, way: str) -> None:
    host = Host(tmp_path)
    for kill in range(30):
        host.put("f", "a" * 200_000)
        shutil.rmtree(tmp_path / "made", ignore_errors=True)
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), way], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.003 * kill)  # a moment, not a synchronisation
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert host.get("f") in (b"a" * 200_000, b"b" * 200_000)
        sweep(Workspace(tmp_path))
        for path in host.tree() - {"f", "made"}:
            assert path.startswith("made/"), path
            assert len(host.get(path)) == 200_000


def test_in_place_needs_no_stray(tmp_path: Path) -> None:
    path = Host(tmp_path).put("f", "old")
    os.link(path, tmp_path / "g")
    replace(tmp_path, "f", b"")
    assert path.read_bytes() == b""
    assert Host(tmp_path).tree() == {"f", "g"}


def test_the_same_reason_is_told_and_used(tmp_path: Path) -> None:
    """What the review says about writing in place is what the writer does."""
    path = Host(tmp_path).put("f", "old")
    number = path.stat().st_ino
    assert Workspace(tmp_path).target("f")[1] == ""
    replace(tmp_path, "f", b"new")
    assert path.stat().st_ino != number
    os.link(path, tmp_path / "g")
    number = path.stat().st_ino
    assert Workspace(tmp_path).target("f")[1].startswith("written in place")
    replace(tmp_path, "f", b"newer")
    assert path.stat().st_ino == number
    assert writer.in_place_reason.__doc__
