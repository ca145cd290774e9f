"""`search_files`: the same answers with ripgrep and without it; every kind of end has its own words."""

from __future__ import annotations

import asyncio
import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from files_host import Host
from pydantic import ValidationError

from tui_agent.agent import Cancelled, ToolError
from tui_agent.tools import ripgrep, search
from tui_agent.tools.ignore import expanded

RG = ripgrep._ripgrep()


@pytest.fixture(params=["ripgrep", "plain"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "plain":
        monkeypatch.setattr(ripgrep, "ripgrep_for", lambda workspace: None)
    elif RG is None:
        pytest.skip("ripgrep is not installed")
    return str(request.param)


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


@pytest.fixture
def corpus(host: Host) -> Host:
    """Ignored files, encodings, odd names, binaries, long lines, links."""
    for name, data in {
        ".gitignore": b"*.log\nbuild/\n/only\n!special.log\n",
        "a.log": b"hit\n",
        "special.log": b"hit\n",
        "build/x.py": b"hit\n",
        "build/.gitignore": b"y*\n",
        "build/y.py": b"hit\n",
        "only/z": b"hit\n",
        "sub/only/z": b"hit\n",
        "sub/.gitignore": b"!keep.log\nlocal\n",
        "sub/keep.log": b"hit\n",
        "sub/no.log": b"hit\n",
        "sub/local": b"hit\n",
        "src/a.ts": b"one hit\r\nhit$\r\nmiss\r\nHIT\r\n",
        "src/b.tsx": b"Hit\n\thit\n",
        ".github/w.yml": b"hit\n",
        ".git/config": b"hit\n",
        ".hidden": b"hit\n",
        "mark": b"\xef\xbb\xbfhello hit\nsecond hit\n",
        "wide-le": "\ufeffé hit\r\nhit2\n".encode("utf-16-le"),
        "wide-be": "\ufeffé hit\n".encode("utf-16-be"),
        "binary": b"ab\0hit\n",
        "late-nul": b"hit\n" + b"x\n" * 150_000 + b"\0\nhit\n",
        "latin": b"caf\xe9 hit\n",
        "new\nline/f": b"hit",
        "min.js": b"x" * 100_000 + b"stats hit" + b"y" * 1_000_000,
        "wide.txt": "😀".encode() * 500 + b"hit" + "😀".encode() * 500 + b"\n",
        "empty": b"",
        "\udcff": b"hit\n",
        "-n": b"hit\n",
    }.items():
        host.put(name, data)
    os.symlink("/etc", host.root / "etc")
    os.symlink("a.log", host.root / "link")
    os.symlink(".", host.root / "loop")
    os.mkfifo(host.root / "pipe")
    return host


ALL = [".github/w.yml", ".hidden", "-n", "late-nul", "latin", "mark", "min.js", "new␊line/f", "special.log"]
ALL += ["src/a.ts", "src/b.tsx", "sub/keep.log", "sub/only/z", "wide-be", "wide-le", "wide.txt", "\\udcff"]


@pytest.mark.usefixtures("engine")
async def test_where_it_looks(corpus: Host) -> None:
    text = await corpus.text("search_files", pattern="hit")
    assert {row.partition(":")[0] for row in text.split("\n")} == set(ALL)


QUERIES = [
    {"pattern": "hit"},
    {"pattern": "hit$"},
    {"pattern": "^hit"},
    {"pattern": r"\bhit\d?\b"},
    {"pattern": r"[hH]it|HIT"},
    {"pattern": "HIT", "ignore_case": True},
    {"pattern": r"h.t", "glob": "*.{ts,tsx}"},
    {"pattern": "hit", "glob": "src/**"},
    {"pattern": "hit", "glob": "/src/*.ts"},
    {"pattern": "hit", "glob": "!src"},
    {"pattern": "hit", "glob": "*.log"},
    {"pattern": "hit", "path": "build"},
    {"pattern": "hit", "path": "sub"},
    {"pattern": "hit", "path": ".git"},
    {"pattern": "hit", "path": "src/a.ts"},
    {"pattern": "hit", "path": "a.log"},
    {"pattern": "hit", "path": "link"},
    {"pattern": "hit", "path": "loop"},
    {"pattern": "hit", "path": "mark"},
    {"pattern": "hit", "path": "wide-le"},
    {"pattern": "é hit"},
    {"pattern": r"\thit"},
    {"pattern": "-n"},
    {"pattern": "hit$|stats"},
    {"pattern": r"hit\$"},
    {"pattern": "nowhere to be found"},
    {"pattern": "x{3,5}stats"},
    {"pattern": "(one|second) hit"},
    {"pattern": r"\s+hit"},
    {"pattern": "^$"},
]


@pytest.mark.skipif(RG is None, reason="ripgrep is not installed")
@pytest.mark.parametrize("query", QUERIES, ids=str)
async def test_both_engines_say_the_same(
    corpus: Host, monkeypatch: pytest.MonkeyPatch, query: dict[str, object]
) -> None:
    with_ripgrep = await corpus.text("search_files", **query)
    monkeypatch.setattr(ripgrep, "ripgrep_for", lambda workspace: None)
    assert await corpus.text("search_files", **query) == with_ripgrep


@pytest.mark.usefixtures("engine")
async def test_long_lines_are_cut_around_the_hit(corpus: Host) -> None:
    text = await corpus.text("search_files", pattern="stats", path="min.js")
    assert len(text) < 500
    assert "…x" in text
    assert "xstats hity" in text
    assert text.endswith("y…")
    text = await corpus.text("search_files", pattern="hit", path="wide.txt")
    assert "😀hit😀" in text
    assert "�" not in text


@pytest.mark.usefixtures("engine")
async def test_no_match_invalid_and_stopped_are_three_answers(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.put("f", "a" * 40 + "!\n")
    assert await host.text("search_files", pattern="zzz") == "[no match in the folder]"
    assert (
        await host.text("search_files", pattern="zzz", glob="*.py") == "[no match in the folder (files *.py)]"
    )
    with pytest.raises(ToolError, match=r"(?s)not valid.*(unclosed|unterminated)"):
        await host.call("search_files", pattern="foo(")
    for pattern in ("", "a\nb", "a\0b"):
        with pytest.raises(ToolError, match="empty or holds"):
            await host.call("search_files", pattern=pattern)
    with pytest.raises(ToolError, match="does not exist"):
        await host.call("search_files", pattern="a", path="nope")
    host.put("zeros", b"\0" * 10_000)
    with pytest.raises(ToolError, match="zeros is not text"):
        await host.call("search_files", pattern="a", path="zeros")


async def test_a_pattern_that_takes_for_ever_is_stopped(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ripgrep, "ripgrep_for", lambda workspace: None)
    monkeypatch.setattr(search.Query, "__init__", _with_seconds(0.5))
    host.put("a", "hit aaa\n")
    host.put("b", "a" * 60 + "!\n")
    began = time.monotonic()
    text = await host.text("search_files", pattern="(a+)+$")
    assert time.monotonic() - began < 5
    assert text.startswith("a:1: hit aaa\n[not complete: stopped after 0.5 s")


def _with_seconds(seconds: float):  # type: ignore[no-untyped-def]
    real = search.Query.__init__

    def make(self: search.Query, *args: object, **fields: object) -> None:
        real(self, *args, **fields, seconds=seconds)  # type: ignore[arg-type]

    return make


async def test_a_cancel_ends_a_pattern_that_takes_for_ever(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ripgrep, "ripgrep_for", lambda workspace: None)
    started = asyncio.Event()
    loop = asyncio.get_running_loop()
    real = search.Helper.__init__

    def tell(self: search.Helper, *args: object) -> None:
        real(self, *args)  # type: ignore[arg-type]
        loop.call_soon_threadsafe(started.set)

    monkeypatch.setattr(search.Helper, "__init__", tell)
    host.put("b", "a" * 60 + "!\n")
    call = asyncio.create_task(host.call("search_files", pattern="(a+)+$"))
    await started.wait()
    began = time.monotonic()
    host.signal.cancel()
    with pytest.raises(Cancelled):
        await call
    assert time.monotonic() - began < 2


PARENT = """
import asyncio, sys
from tui_agent.agent import CancelSignal
from tui_agent.tools import Workspace, ripgrep, search
from tui_agent.tools.search_files import SearchFiles
ripgrep.ripgrep_for = lambda workspace: None
real = search.Helper.__init__
def tell(self, *args):
    real(self, *args)
    print(self.process.pid, flush=True)
search.Helper.__init__ = tell
tool = SearchFiles(Workspace(sys.argv[1]))
asyncio.run(tool.execute(tool.parameters(pattern="(a+)+$"), CancelSignal()))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere its own time limit ends it")
def test_the_child_dies_with_us(host: Host) -> None:
    host.put("b", "a" * 60 + "!\n")
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(host.root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    watch = os.pidfd_open(child)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    try:
        assert select.select([watch], [], [], 5)[0]
    finally:
        os.close(watch)


@pytest.mark.usefixtures("engine")
async def test_caps_on_the_whole_result(host: Host) -> None:
    host.put("many", "hit\n" * 5000)
    text = await host.text("search_files", pattern="hit")
    assert len(text.split("\n")) == 1001
    assert "many:1000: hit\n[not complete: stopped after 1,000 matching lines" in text
    host.put("many", ("hit" + "😀" * 390 + "\n") * 500)
    text = await host.text("search_files", pattern="hit")
    assert len(text) < 50_200
    shown = text.count("many:")
    assert f"[{500 - shown} more matches left out" in text


@pytest.mark.usefixtures("engine")
async def test_denied_files_are_left_out_and_counted(corpus: Host) -> None:
    denied = (".hidden", "src/a.ts")
    corpus.workspace.may_read = lambda path: path not in denied
    corpus.workspace.hides = lambda path: path in denied
    text = await corpus.text("search_files", pattern="hit")
    assert "src/b.tsx" in text
    assert ".hidden" not in text
    assert "src/a.ts" not in text
    assert "[2 files not searched: denied by a rule, or likely to hold secrets]" in text
    with pytest.raises(ToolError, match="denies"):
        await corpus.call("search_files", pattern="hit", path="src/a.ts")


@pytest.mark.usefixtures("engine")
async def test_the_glob_may_be_wrong(host: Host) -> None:
    host.put("f", "hit\n")
    assert "no match" in await host.text("search_files", pattern="hit", glob="*.{py,ts}")
    with pytest.raises(ToolError):
        await host.call("search_files", pattern="hit", glob="\0")
    with pytest.raises(ValidationError):
        host.arguments("search_files", {"pattern": "x", "ignore_case": "yes"})


def test_braces() -> None:
    assert expanded("*.{ts,tsx}") == ["*.ts", "*.tsx"]
    assert sorted(expanded("{a,b}/{c,d{1,2}}")) == ["a/c", "a/d1", "a/d2", "b/c", "b/d1", "b/d2"]
    assert len(expanded("{a,b}" * 30)) <= 500


def test_a_ripgrep_of_the_folder_is_never_run(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    program = host.put("bin/rg", "#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    ripgrep._ripgrep.cache_clear()
    monkeypatch.setenv("PATH", f"{program.parent}:.:{os.environ['PATH']}")
    try:
        assert ripgrep.ripgrep_for(host.workspace) != str(program)
    finally:
        monkeypatch.undo()
        ripgrep._ripgrep.cache_clear()


@pytest.mark.usefixtures("engine")
async def test_a_proposal_names_the_real_path(corpus: Host) -> None:
    proposal = await corpus.prepare("search_files", pattern="hit", path="loop/src")
    assert (proposal.kind, proposal.targets) == ("read", ("src",))
    assert proposal.title == "Search hit in src"


@pytest.mark.heavy
@pytest.mark.usefixtures("engine")
async def test_a_folder_swapped_with_a_link_leaks_nothing(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "f").write_text("hit SECRET\n")
    host = Host(_made(tmp_path / "work"))
    host.put("d/f", "hit inside\n")
    os.symlink("../out", host.root / "l")
    exchange = ctypes.CDLL(None).renameat2
    names = (-100, str(host.root / "d").encode(), -100, str(host.root / "l").encode(), 2)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            assert exchange(*names) == 0

    thread = threading.Thread(target=swap)
    thread.start()
    found = 0
    end = time.monotonic() + 3
    try:
        while time.monotonic() < end:
            text = await host.text("search_files", pattern="hit")
            assert "SECRET" not in text
            found += "inside" in text
    finally:
        stop.set()
        thread.join()
    assert found


def _made(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.usefixtures("engine")
async def test_files_that_may_hold_secrets_are_searched_only_when_named(host: Host) -> None:
    host.workspace.hides = lambda path: ".env" in path
    host.put(".env", "KEY=hit\n")
    host.put("a/.env.local", "KEY=hit\n")
    host.put("a/b.txt", "hit\n")
    text = await host.text("search_files", pattern="hit")
    assert text.startswith("a/b.txt:1: hit\n[2 files not searched")
    assert "KEY" not in text
    text = await host.text("search_files", pattern="hit", glob=".env*")
    assert "KEY" not in text
    assert "[2 files not searched" in text
    assert await host.text("search_files", pattern="hit", path=".env") == ".env:1: KEY=hit"


@pytest.mark.usefixtures("engine")
async def test_what_was_not_searched_tells_nothing_of_its_content(host: Host) -> None:
    host.workspace.hides = lambda path: path == ".env"
    host.put(".env", "KEY=abc\n")
    host.put("ignored/.env", "KEY=abc\n")
    host.put(".gitignore", "ignored/\n")
    notes = {
        (await host.text("search_files", pattern=pattern)).replace(pattern, "")
        for pattern in ("KEY=a", "KEY=b")
    }
    assert len(notes) == 1
    assert "1 file not searched" in notes.pop()
