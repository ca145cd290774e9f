from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.messages_api import error
from server.threaded import ThreadedAPI

from tui_agent import paths

KEY = "sk-test-0123456789abcdef"


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def doctor(cwd: Path, *options: str, **env: str) -> tuple[int, dict[str, str]]:
    run = subprocess.run(
        [sys.executable, "-m", "tui_agent", "doctor", *options],
        cwd=cwd,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stderr == ""
    assert KEY not in run.stdout
    rows = [line.split(maxsplit=2) for line in run.stdout.splitlines()]
    return run.returncode, {row[1]: f"{row[0]} {row[2]}" for row in rows if len(row) == 3}


def test_all_is_well(tmp_path: Path, listening: str) -> None:
    code, found = doctor(tmp_path, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=listening)
    assert code == 0
    assert found["key"] == "ok ANTHROPIC_API_KEY is set"
    assert found["endpoint"].startswith(f"ok {listening} takes connections")
    assert found["bash"].startswith("ok ")
    assert found["terminal"].startswith("note ")
    assert found["sessions"] == f"ok {paths.sessions_folder()} (mode 0700)"
    assert found["state"] == f"ok {paths.state_folder()} (mode 0700)"
    assert found["config"] == f"ok {paths.config_folder()} (not there)"
    assert found["log"] == f"ok {paths.log_folder()} (mode 0700), tui-agent.log in it"
    assert found["parser"] == "ok commands can be analysed"
    assert "request" not in found


def test_what_is_missing_is_named_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        dead = f"http://127.0.0.1:{server.getsockname()[1]}"
    code, found = doctor(tmp_path, ANTHROPIC_BASE_URL=dead)
    assert code == 1
    assert found["endpoint"].startswith(f"problem {dead} can't be reached (Connection refused)")
    assert found["key"].startswith("note none")


def test_settings_that_can_t_be_read_don_t_hide_the_rest(tmp_path: Path) -> None:
    file = paths.settings_file()
    file.parent.mkdir(parents=True)
    file.write_text("mode = 1\n")
    code, found = doctor(tmp_path)
    assert code == 1
    assert f"{file}, line 1: mode must be one of" in found["settings"]
    assert found["bash"].startswith("ok ")


def test_a_state_folder_that_can_t_be_used(tmp_path: Path, listening: str) -> None:
    (tmp_path / "file").touch()
    code, found = doctor(
        tmp_path, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=listening, XDG_STATE_HOME=str(tmp_path / "file")
    )
    assert code == 1
    assert found["sessions"].startswith("problem ")
    assert "XDG_STATE_HOME" in found["sessions"]


def test_online_makes_one_small_request(tmp_path: Path) -> None:
    with ThreadedAPI(["hello"]) as api:
        code, found = doctor(tmp_path, "--online", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
        (request,) = api.requests
    assert code == 0
    assert found["request"].endswith(" answers")
    assert request.body["max_tokens"] <= 16
    assert len(str(request.body)) < 500


@pytest.mark.parametrize(("status", "word"), [(401, "key"), (404, "model"), (529, "")])
def test_what_the_server_says_is_told_with_what_to_do(tmp_path: Path, status: int, word: str) -> None:
    with ThreadedAPI([error(status)]) as api:
        code, found = doctor(tmp_path, "--online", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=api.url)
        assert len(api.requests) == 1
    assert code == 1
    assert found["request"].startswith("problem ")
    assert word in found["request"]
