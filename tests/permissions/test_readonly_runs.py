"""Every random command that the read-only list allows is really run, and changes nothing."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from command_fuzz import command, make_folder, snapshot

from tui_agent.permissions import decide_command
from tui_agent.permissions.sandbox import Sandbox, SandboxError

pytestmark = pytest.mark.heavy
RUNS = 500


def test_allowed_commands_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    folder = tmp_path / "work"
    make_folder(folder)
    sandbox = Sandbox(folder)
    try:
        sandbox.check()
    except SandboxError as error:
        pytest.skip(f"bubblewrap can't be used here: {error.cause}")
    before = snapshot(folder)
    source = random.Random(7)
    runs, seen, programs = 0, set(), set()
    while runs < RUNS:
        line = command(source)
        if line in seen or decide_command(line, folder=folder).verdict != "allow":
            continue
        seen.add(line)
        runs += 1
        ended = _run(sandbox, line)
        assert snapshot(folder) == before, f"{line!r} changed something: {ended.stderr!r}"
        assert b"Read-only file system" not in ended.stderr, f"{line!r} tried to write outside"
        programs.add(line.split()[0])
    assert len(programs) > 25


def _run(sandbox: Sandbox, line: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            sandbox.wrap(["/bin/bash", "-c", line]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
    finally:
        sandbox.tidy()
