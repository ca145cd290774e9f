"""`--sandbox` and `--sandbox-net` from the command line: held, or refused before anything starts."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import call, reply
from server.threaded import ThreadedAPI

from tui_agent import paths
from tui_agent.permissions.sandbox import find_bwrap

needs_bwrap = pytest.mark.skipif(find_bwrap() is None, reason="bubblewrap is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def tui_agent(folder: Path, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tui_agent", *options],
        cwd=folder,
        env=os.environ | {"ANTHROPIC_API_KEY": "sk-test-0123456789abcdef"} | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def result_of(command: str, folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """What the model is told of a command, and the report of the turn."""
    with ThreadedAPI([reply(call("run_command", {"command": command})), "done"]) as api:
        run = tui_agent(folder, "-p", "go", "--output-format=json", *options, ANTHROPIC_BASE_URL=api.url)
        assert run.returncode in (0, 3), run.stderr
        told = api.requests[-1].body["messages"][-1]["content"]
    return json.dumps(told), json.loads(run.stdout)


@needs_bwrap
@pytest.mark.parametrize(("option", "reached"), [("--sandbox", False), ("--sandbox-net", True)])
def test_the_network_is_there_only_when_asked_for(
    folder: Path, port: int, option: str, reached: bool
) -> None:
    command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reach''ed"
    told, _ = result_of(command, folder, "--mode=auto", option)
    assert ("reached" in told) is reached


@needs_bwrap
@pytest.mark.parametrize("option", ["--sandbox", "--sandbox-net"])
def test_in_auto_every_command_runs_and_changes_the_folder_only(folder: Path, option: str) -> None:
    outside = folder.parent / "outside"
    command = f"touch inside; (python3 -c 'print(6*7)'); touch {outside}"
    told, report = result_of(command, folder, "--mode=auto", option)
    assert "42" in told
    assert (folder / "inside").exists()
    assert not outside.exists()
    assert report["exit_code"] == 0


@needs_bwrap
def test_in_ask_mode_the_sandbox_allows_nothing_by_itself(folder: Path) -> None:
    _, report = result_of("touch inside", folder, "--sandbox")
    assert report["exit_code"] == 3
    assert not (folder / "inside").exists()


@needs_bwrap
def test_the_settings_can_ask_for_it(folder: Path, port: int) -> None:
    file = paths.settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("sandbox = true\nsandbox_net = true\n")
    command = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reach''ed; touch {folder.parent}/outside"
    told, _ = result_of(command, folder, "--mode=auto")
    assert "reached" in told
    assert not (folder.parent / "outside").exists()


@needs_bwrap
@pytest.mark.parametrize("options", [("-p", "go"), ()])
def test_a_folder_that_can_t_be_held_is_refused_before_anything_starts(
    folder: Path, options: tuple[str, ...]
) -> None:
    with ThreadedAPI([]) as api:
        run = tui_agent(folder, "--sandbox", *options, ANTHROPIC_BASE_URL=api.url, HOME=str(folder))
        assert api.requests == []
    assert run.returncode == 2
    assert run.stdout == ""
    assert f"the working folder is {folder} itself; start in a project folder" in run.stderr


@pytest.mark.parametrize("options", [("-p", "go"), ()])
def test_without_bubblewrap_the_hint_says_how_to_get_it(
    folder: Path,
    options: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tui_agent import cli

    monkeypatch.setattr("tui_agent.permissions.sandbox._PLACES", ("/nowhere/bwrap",))
    monkeypatch.setattr(cli, "_protect", lambda: None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test-0123456789abcdef")
    assert cli.main([str(folder), "--sandbox", *options]) == 2
    said = capsys.readouterr().err
    assert "bubblewrap (bwrap) is not installed; install it" in said
    assert "apt install bubblewrap" in said
