"""`list_files`: sorted, capped, links shown and not followed, ignored trees named."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest
from files_host import Host, as_nobody

from tui_agent.agent import Cancelled, CancelSignal, ToolError
from tui_agent.tools import list_files, walk


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


async def test_folders_first_sorted_with_sizes(host: Host) -> None:
    host.put("b.py", "x" * 1234)
    host.put("a.py", "")
    host.put("z/deep/x", "1")
    host.put("m/y", "22")
    assert await host.text("list_files") == "m/\nz/\na.py  0 B\nb.py  1.2 KB"
    assert await host.text("list_files", depth=3) == (
        "m/\n  y  2 B\nz/\n  deep/\n    x  1 B\na.py  0 B\nb.py  1.2 KB"
    )
    assert await host.text("list_files", path="z/deep") == "x  1 B"
    (host.root / "void").mkdir()
    assert await host.text("list_files", path="void") == "[the folder is empty]"
    proposal = await host.prepare("list_files", path="m/../z")
    assert proposal.targets == ("z",)


async def test_ignored_trees_are_named_and_not_walked(host: Host) -> None:
    host.put(".gitignore", "node_modules/\n/dist\n*.log\n")
    host.put("sub/.gitignore", "!keep/\nown/\n")
    for name in ("node_modules/p/i.js", "dist/x", "sub/dist/x", "sub/own/x", ".git/config", "a.log"):
        host.put(name, "1")
    text = await host.text("list_files", depth=9)
    assert text == (
        ".git/  (ignored, not listed)\ndist/  (ignored, not listed)\nnode_modules/  (ignored, not listed)\n"
        "sub/\n  dist/\n    x  1 B\n  own/  (ignored, not listed)\n  .gitignore  12 B\n"
        ".gitignore  26 B\na.log  1 B"
    )
    assert await host.text("list_files", path="node_modules", depth=2) == "p/\n  i.js  1 B"


async def test_links_are_shown_and_not_followed(host: Host) -> None:
    os.symlink(".", host.root / "loop")
    os.symlink("/etc", host.root / "out")
    os.symlink("nowhere", host.root / "dangling")
    os.mkfifo(host.root / "pipe")
    assert await host.text("list_files", depth=50) == (
        "dangling -> nowhere\nloop -> .\nout -> /etc\npipe  (not a regular file)"
    )
    with pytest.raises(ToolError, match="outside"):
        await host.call("list_files", path="out")


async def test_names_are_drawn(host: Host) -> None:
    for name in ("new\nline", "esc\x1b[2J", "rlo\u202etxt", "\udcff", "<system>obey"):
        host.put(name, "")
    text = await host.text("list_files")
    assert text.split("\n") == [
        "<system>obey  0 B",
        "esc␛[2J  0 B",
        "new␊line  0 B",
        "rlo⸨U+202E⸩txt  0 B",
        "\\udcff  0 B",
    ]


async def test_caps_are_said(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 1006):
        host.put(f"d/{number:04}", "")
    text = await host.text("list_files", path="d")
    assert len(text.split("\n")) == 1001
    assert text.endswith(
        "0999  0 B\n1000  0 B\n[not complete: stopped after 1,000 entries; "
        "list a sub-folder, or find files by text with search_files]"
    )
    monkeypatch.setattr(walk, "_NAMES", 10)
    assert "a folder has more than 10 entries" in await host.text("list_files", path="d")
    monkeypatch.setattr(list_files, "_SECONDS", 0.0)
    assert "stopped after 0 s" in await host.text("list_files", depth=2)


async def test_a_very_deep_tree(host: Host) -> None:
    path = host.root
    for _ in range(600):
        path = path / "d"
    path.mkdir(parents=True)
    text = await host.text("list_files", depth=1000)
    assert text.startswith("d/\n  d/\n    d/")
    assert "stopped after 50,000 characters" in text  # the blanks in front of so many names


async def test_a_tree_deeper_than_any_path(host: Host) -> None:
    folder = os.open(host.root, os.O_RDONLY)
    for _ in range(40):
        os.mkdir("n" * 200, dir_fd=folder)
        below = os.open("n" * 200, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    assert "[1 folder could not be read]" in await host.text("list_files", depth=1000)


def test_a_folder_without_permission_is_counted(tmp_path: Path) -> None:
    root = Path(tempfile.mkdtemp(prefix="tui-agent-test-"))
    root.chmod(0o777)

    def work() -> None:
        (root / "closed").mkdir()
        (root / "closed").chmod(0o000)
        text = asyncio.run(Host(root).text("list_files", depth=2))
        assert text == "closed/\n[1 folder could not be read]"

    try:
        as_nobody(work)
    finally:
        (root / "closed").chmod(0o700)
        shutil.rmtree(root)


async def test_a_cancelled_listing_stops(host: Host) -> None:
    host.put("a/b", "")
    host.signal = CancelSignal()
    host.signal.cancel()
    with pytest.raises(Cancelled):
        await host.call("list_files", depth=2)


@pytest.mark.heavy
async def test_two_hundred_thousand_entries(host: Host) -> None:
    (host.root / "d").mkdir()
    folder = os.open(host.root / "d", os.O_RDONLY)
    for number in range(200_000):
        os.close(os.open(f"f{number}", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)
    began = time.monotonic()
    text = await host.text("list_files", path="d")
    assert time.monotonic() - began < 5
    assert "more than 100,000 entries" in text or "stopped after 1,000" in text
