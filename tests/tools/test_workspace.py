"""The jail: the right file, or a clear error; the same with the kernel's resolver and without it."""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import threading
import time
import unicodedata
from pathlib import Path

import pytest
from files_host import Host

from tui_agent.agent import StaleProposal, ToolError
from tui_agent.tools import Workspace, openat
from tui_agent.tools.details import digest


@pytest.fixture(params=["kernel", "walk"])
def resolver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "walk":
        monkeypatch.setattr(openat, "kernel_resolves", lambda: False)
    elif not openat.kernel_resolves():
        pytest.skip("this kernel has no openat2")
    return str(request.param)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A working folder with a secret beside it."""
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "secret").write_text("SECRET")
    (tmp_path / "work-evil").mkdir()
    (tmp_path / "work-evil" / "f").write_text("SECRET")
    root = tmp_path / "work"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "f").write_text("inside")
    return root


OUTSIDE = [
    "../out/secret",
    "sub/../../out/secret",
    "../work-evil/f",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "/proc/self/cwd/../etc/passwd",
    "..",
    "../",
    "sub/../..",
    "{root}/../out/secret",
    "{root}-evil/f",
    "{root}/sub/../../out/secret",
]


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("path", OUTSIDE)
def test_nothing_outside_is_reached(work: Path, path: str) -> None:
    workspace = Workspace(work)
    path = path.format(root=work)
    for attempt in (workspace.read_bytes, workspace.resolve, workspace.open_folder, workspace.target):
        with pytest.raises(ToolError, match="outside the working folder"):
            attempt(path)
    with pytest.raises(ToolError, match="outside the working folder"):
        workspace.write(path, b"x", base=None)
    assert (work.parent / "out" / "secret").read_text() == "SECRET"


LINKS = {
    "file": "../out/secret",
    "absolute": "{out}/secret",
    "folder": "../out",
    "root": "/",
    "magic": "/proc/self/root",
    "chain": "folder",
}


@pytest.mark.usefixtures("resolver")
def test_links_that_leave(work: Path) -> None:
    for name, target in LINKS.items():
        os.symlink(target.format(out=work.parent / "out"), work / name)
    os.symlink("../out/new", work / "dangling")
    os.symlink(work.parent / "out" / "new", work / "dangling-absolute")
    workspace = Workspace(work)
    for path in ("file", "absolute", "folder/secret", "chain/secret", "root/etc/passwd", "magic/etc/passwd"):
        with pytest.raises(ToolError):
            workspace.read_bytes(path)
        with pytest.raises(ToolError):
            workspace.write(path, b"x", base=None)
    for path in ("dangling", "dangling-absolute", "folder/new", "folder/deep/../new", "chain/a/b"):
        with pytest.raises(ToolError):
            workspace.write(path, b"x", base=None)
    assert {p.name for p in (work.parent / "out").iterdir()} == {"secret", "deep"}


def test_links_inside_work_and_stay(work: Path) -> None:
    if not openat.kernel_resolves():
        pytest.skip("this kernel has no openat2")
    os.symlink("sub/f", work / "link")
    os.symlink("sub", work / "folder")
    os.symlink("made/later", work / "dangling")
    host = Host(work)
    assert host.workspace.read_bytes("link") == b"inside"
    assert host.workspace.resolve("folder/f") == host.workspace.resolve("link") == "sub/f"
    change = host.workspace.target("link")
    assert change == ("sub/f", "")
    with pytest.raises(StaleProposal, match="is sub/f now"):
        host.workspace.write("link", b"new", base=digest(b"inside"))
    host.workspace.write(change[0], b"new", base=digest(b"inside"))
    assert (work / "link").is_symlink()
    assert (work / "sub" / "f").read_bytes() == b"new"
    assert host.workspace.target("dangling") == ("made/later", "")
    host.workspace.write("made/later", b"made", base=None)
    assert (work / "dangling").is_symlink()
    assert (work / "dangling").read_bytes() == b"made"


def test_the_walk_refuses_links_with_its_own_words(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openat, "kernel_resolves", lambda: False)
    os.symlink("sub", work / "folder")
    os.symlink("sub/f", work / "link")
    for path in ("folder/f", "link"):
        with pytest.raises(ToolError, match="link"):
            Workspace(work).read_bytes(path)


def test_dots_after_a_link_are_those_of_its_target(work: Path) -> None:
    """`link/../x` is beside the target, not beside the link."""
    if not openat.kernel_resolves():
        pytest.skip("this kernel has no openat2")
    (work / "a" / "b").mkdir(parents=True)
    (work / "a" / "x").write_text("physical")
    (work / "x").write_text("lexical")
    os.symlink("a/b", work / "link")
    assert Workspace(work).read_bytes("link/../x") == b"physical"
    assert Workspace(work).resolve("link/../x") == "a/x"


@pytest.mark.usefixtures("resolver")
def test_absolute_paths_inside_are_mapped(work: Path, tmp_path: Path) -> None:
    os.symlink(work, tmp_path / "alias")
    workspace = Workspace(tmp_path / "alias")
    assert workspace.root == work
    for path in (
        f"{work}/sub/f",
        f"{work}//sub/./f",
        f"{tmp_path}/alias/sub/f",
        f"{work}/../work/sub/f",
        "sub/../sub/f",
    ):
        assert workspace.resolve(path) == "sub/f", path
    assert workspace.resolve(str(work)) == workspace.resolve("sub/..") == workspace.resolve(".") == "."
    assert workspace.resolve(f"{work}/new/x") == "new/x"


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize(
    "path", ["sub/f\0", "a\0b", "", "\ud800", "x" * 5000, "y" * 300, "sub/f/x", "sub", "."]
)
def test_what_is_no_file_is_a_clear_error(work: Path, path: str) -> None:
    workspace = Workspace(work)
    (work / "a").write_text("cut at NUL")
    for attempt in (workspace.read_bytes, workspace.target):
        with pytest.raises(ToolError) as caught:
            attempt(path)
        assert str(caught.value).encode()
        assert "\0" not in str(caught.value)


@pytest.mark.usefixtures("resolver")
def test_odd_names_give_the_right_file(work: Path) -> None:
    names = [unicodedata.normalize(form, "é") for form in ("NFC", "NFD")]
    names += [
        "line\nend",
        "tab\t",
        " lead",
        "trail ",
        "back\\slash",
        "%2e%2e",
        "~",
        "-rf",
        "é" * 100,
        "\udcff\udc80",
    ]
    for number, name in enumerate(names):
        (work / name).write_text(str(number))
    workspace = Workspace(work)
    for number, name in enumerate(names):
        assert workspace.read_bytes(name) == str(number).encode()
        assert workspace.resolve(name) == name


@pytest.mark.parametrize("path", ["\udcff", "a/\udcff/b", "~/x", "$HOME/x", "new/", "missing/../x"])
def test_names_that_are_not_made(work: Path, path: str) -> None:
    before = Host(work).tree()
    with pytest.raises(ToolError):
        Workspace(work).write(path, b"x", base=None)
    assert Host(work).tree() == before


@pytest.mark.usefixtures("resolver")
def test_only_regular_files_and_never_a_wait(work: Path) -> None:
    os.mkfifo(work / "pipe")
    os.symlink("/dev/zero", work / "zero")
    os.symlink("pipe", work / "to-pipe")
    os.symlink("loop", work / "loop")
    sock = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(work)  # the name of a socket is short
    try:
        sock.bind("socket")
    finally:
        os.chdir(here)
    workspace = Workspace(work)
    began = time.monotonic()
    for path in ("pipe", "zero", "to-pipe", "socket", "loop"):
        for attempt in (workspace.read_bytes, workspace.target):
            with pytest.raises(ToolError):
                attempt(path)
    assert time.monotonic() - began < 1
    sock.close()


def test_a_root_that_is_gone_stops_everything(work: Path) -> None:
    workspace = Workspace(work)
    shutil.rmtree(work)
    for _ in range(2):
        for attempt in (workspace.read_bytes, workspace.resolve, workspace.target):
            with pytest.raises(ToolError, match="was deleted, moved or replaced"):
                attempt("sub/f")
        work.mkdir(exist_ok=True)  # another folder of that name is another folder


def test_the_root_itself_may_be_the_whole_disk() -> None:
    workspace = Workspace("/")
    assert workspace.resolve("/etc/../etc/") == workspace.resolve("etc") == "etc"
    with pytest.raises(ToolError):
        workspace.read_bytes("../nope-at-all")


def test_missing_names_come_with_similar_ones(work: Path) -> None:
    (work / "README.md").write_text("x")
    with pytest.raises(ToolError, match=r"does not exist.*README\.md"):
        Workspace(work).read_bytes("readme.md")


def test_a_denied_file_is_denied_on_every_way(work: Path) -> None:
    (work / ".env").write_text("KEY=1")
    workspace = Workspace(work)
    workspace.may_read = lambda path: path != ".env"
    paths = [".env", "./sub/../.env", f"{work}/.env"]
    if openat.kernel_resolves():
        os.symlink(".env", work / "link")
        paths.append("link")
    for path in paths:
        with pytest.raises(ToolError, match="denies"):
            workspace.read_bytes(path)


def test_a_name_that_ends_like_a_deleted_file(work: Path) -> None:
    (work / "x (deleted)").write_text("real")
    assert Workspace(work).resolve("x (deleted)") == "x (deleted)"
    assert Workspace(work).read_bytes("x (deleted)") == b"real"


@pytest.mark.heavy
@pytest.mark.usefixtures("resolver")
def test_a_folder_swapped_with_a_link_never_leaks(work: Path) -> None:
    """Read and write `d/secret` for 3 s while `d` is a folder, then a link out, then a folder …"""
    (work / "d").mkdir()
    (work / "d" / "secret").write_text("inside")
    os.symlink("../out", work / "l")
    stop = threading.Event()

    exchange = ctypes.CDLL(None).renameat2
    names = (-100, str(work / "d").encode(), -100, str(work / "l").encode(), 2)

    def swap() -> None:
        while not stop.is_set():
            assert exchange(*names) == 0

    thread = threading.Thread(target=swap)
    thread.start()
    reads, refused = 0, 0
    workspace = Workspace(work)
    end = time.monotonic() + 3
    try:
        while time.monotonic() < end:
            try:
                assert workspace.read_bytes("d/secret") == b"inside"
                reads += 1
            except ToolError:
                refused += 1
            try:
                workspace.write("d/new", b"x", base=None)
            except ToolError:
                refused += 1
    finally:
        stop.set()
        thread.join()
    assert reads > 50
    assert refused > 50
    assert {p.name for p in (work.parent / "out").iterdir()} == {"secret", "deep"}


@pytest.mark.parametrize("name", ["new/", "new/.", "new/./", "sub/new//"])
def test_a_new_file_is_not_named_like_a_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "sub").mkdir()
    with Workspace(tmp_path) as workspace, pytest.raises(ToolError, match="ends as folders do"):
        workspace.target(name)


def test_a_dangling_link_is_not_told_as_similar_to_itself(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nothing")
    with Workspace(tmp_path) as workspace, pytest.raises(ToolError) as caught:
        workspace.read_bytes("link")
    assert "Similar" not in str(caught.value)


@pytest.mark.skipif(not openat.kernel_resolves(), reason="without openat2 no link is followed")
def test_a_link_that_leaves_and_comes_back_is_told_with_the_way_inside(work: Path) -> None:
    (work / "back").symlink_to(work / "sub" / "f")
    (work / "away").symlink_to(work.parent / "out" / "secret")
    with Workspace(work) as workspace:
        with pytest.raises(ToolError, match=r"`?back`? goes through a link.*Use `?sub/f`?, where it leads"):
            workspace.read_bytes("back")
        with pytest.raises(ToolError, match="is outside the working folder"):
            workspace.read_bytes("away")
