"""What tmux is asked about its Escape, which tmux that is, and what the person hears of it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_host import Host, until

from tui_agent.ui import tmux


@pytest.fixture
def inside(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a program in a real tmux that has only its defaults."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("there is no tmux here")
    socket = str(tmp_path / "socket")
    subprocess.run([program, "-S", socket, "-f", "/dev/null", "new-session", "-d", "cat"], check=True)
    set_wait(program, socket, 500)
    yield {"TMUX": f"{socket},1,0", "PATH": str(Path(program).parent), "socket": socket, "program": program}
    subprocess.run([program, "-S", socket, "kill-server"], check=True)


def set_wait(program: str, socket: str, wait: int) -> None:
    subprocess.run([program, "-S", socket, "set", "-s", "escape-time", str(wait)], check=True)


def fake(folder: Path, script: str) -> dict[str, str]:
    """An environment whose tmux is this script."""
    folder.mkdir(exist_ok=True)
    (folder / "tmux").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "tmux").chmod(0o755)
    return {"TMUX": "x,1,0", "PATH": f"{folder}:/usr/bin:/bin"}


def test_the_person_hears_once_of_a_long_wait(inside: dict[str, str]) -> None:
    assert "holds Escape back for 500 ms. Ctrl+C stops a run, too" in tmux.advice(inside)
    assert tmux.advice(inside) == ""


def test_a_short_wait_is_no_news(inside: dict[str, str]) -> None:
    set_wait(inside["program"], inside["socket"], 10)
    assert tmux.escape_time(inside) == 10
    assert tmux.advice(inside) == ""


def test_outside_of_tmux_nothing_is_run(tmp_path: Path) -> None:
    environ = fake(tmp_path / "bin", f"touch {tmp_path}/ran; echo 500")
    del environ["TMUX"]
    assert tmux.advice(environ) == ""
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("script", ["exit 1", "echo soon", "kill $$"])
def test_a_tmux_that_does_not_say_is_no_news(tmp_path: Path, script: str) -> None:
    assert tmux.escape_time(fake(tmp_path / "bin", script)) is None


def test_a_tmux_that_hangs_is_left(tmp_path: Path) -> None:
    begin = time.monotonic()
    assert tmux.escape_time(fake(tmp_path / "bin", "exec sleep 30")) is None
    assert time.monotonic() - begin < 5


def test_a_tmux_of_the_working_folder_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    fake(folder, f"touch {tmp_path}/ran; echo 500")
    (folder / "bin").mkdir()
    shutil.copy(folder / "tmux", folder / "bin" / "tmux")
    monkeypatch.chdir(folder)
    for path in (".", "", str(folder), str(folder / "bin"), f"bin:{folder}:."):
        assert tmux.program({"PATH": path}) is None
    assert not (tmp_path / "ran").exists()


async def test_the_app_tells_it_in_the_conversation(
    inside: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMUX", inside["TMUX"])
    async with Host().run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: "holds Escape back for 500 ms" in pilot.app.text)
    async with Host().run_test(size=(120, 30)) as pilot:
        await until(pilot, lambda: pilot.app.benches)
        await until(pilot, lambda: not any(w.group == "advice" for w in pilot.app.workers))
        assert "holds Escape back" not in pilot.app.text
