from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.app import App

from tui_agent.ui import clipboard


def saved(told: str, folder: Path) -> tuple[str, int]:
    """The text and the mode of the file that was told of."""
    path = Path(told.rsplit(" in ", 1)[1])
    assert path.is_relative_to(folder)
    return path.read_text(), path.stat().st_mode & 0o777


def buffer(socket: str) -> str:
    show = ["tmux", "-S", socket, "show-buffer"]
    return subprocess.run(show, capture_output=True, check=True).stdout.decode()


async def test_the_terminal_is_asked() -> None:
    async with App[None]().run_test() as pilot:
        assert await clipboard.copy(pilot.app, "abc", {"TERM": "xterm"}) == "Copied 3 characters."
        assert pilot.app.clipboard == "abc"


@pytest.mark.parametrize(("text", "term"), [("abc", "linux"), ("x" * 80_000, "xterm")])
async def test_what_no_terminal_takes_is_saved(
    text: str, term: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with App[None]().run_test() as pilot:
        told = await clipboard.copy(pilot.app, text, {"TERM": term})
    assert saved(told, tmp_path) == (text, 0o600)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[dict[str, str]]:
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("there is no tmux here")
    socket = str(tmp_path / "tmux")
    subprocess.run([program, "-S", socket, "-f", "/dev/null", "new-session", "-d", "cat"], check=True)
    yield {"TMUX": f"{socket},1,0", "PATH": str(Path(program).parent), "socket": socket}
    subprocess.run([program, "-S", socket, "kill-server"], check=True)


async def test_tmux_takes_it(tmux: dict[str, str]) -> None:
    text = "first [x]\nsecond é " + "y" * 90_000
    async with App[None]().run_test() as pilot:
        assert (await clipboard.copy(pilot.app, text, tmux)).startswith("Copied 9")
    assert buffer(tmux["socket"]) == text


async def test_a_tmux_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    fake = tmp_path / "tmux"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o755)
    async with App[None]().run_test() as pilot:
        told = await clipboard.copy(pilot.app, "abc", {"TMUX": "x", "PATH": str(tmp_path)})
    assert saved(told, tmp_path) == ("abc", 0o600)
