"""The key in no file, no request body, no output: everything the program writes is looked through."""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from server.messages_api import call, error, reply
from server.threaded import ThreadedAPI

from tui_agent import paths
from tui_agent.agent import AgentTool, CancelSignal, ToolCall, ToolError, execute_tool_calls
from tui_agent.credentials import Credentials
from tui_agent.discreet import DiscreetTool
from tui_agent.tools.capture import HEAD, LINE, TAIL, Capture

KEY = "sk-ant-test-0123456789abcdefghij"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def run(folder: Path, *options: str, umask: int = 0o022, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tui_agent", *options],
        cwd=folder,
        env=os.environ | {"ANTHROPIC_API_KEY": KEY} | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        umask=umask,
    )


def holders(*folders: Path) -> list[Path]:
    """Files that hold the key, plain or in a common encoding."""
    coded = base64.b64encode(KEY.encode())[:-4]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if any(form in path.read_bytes() for form in (KEY.encode(), coded))]


def test_what_tools_find_of_the_key_reaches_neither_the_model_nor_a_file(folder: Path) -> None:
    (folder / "conf.txt").write_text(f"line\nkey = {KEY}\n")
    (folder / "loud.sh").write_text("for i in $(seq 4000); do cat conf.txt; done\n")
    (folder / "wait.sh").write_text("sleep 0.3\n")
    (folder / "odd.sh").write_text("base64 -w0 conf.txt; cat no-such-`cat conf.txt`\n")
    script = [
        reply(call("read_file", {"path": "conf.txt"}, "r")),
        reply(call("search_files", {"pattern": "sk-"}, "s")),
        reply(call("run_command", {"command": "bash loud.sh"}, "l")),
        reply(call("run_command", {"command": "bash odd.sh"}, "b")),
        reply(call("run_command", {"command": "bash loud.sh", "background": True}, "j")),
        reply(call("run_command", {"command": "bash wait.sh"}, "w")),
        reply(call("job", {"id": "job-1"}, "k")),
        f"it is {KEY}",
    ]
    with ThreadedAPI(script) as api:
        ended = run(
            folder,
            *("-p", "go", "--allow=run_command(bash *)", "--output-format=stream-json"),
            ANTHROPIC_BASE_URL=api.url,
        )
        bodies = [json.dumps(request.body) for request in api.requests]
    assert ended.returncode == 0, ended.stderr
    results = [json.loads(line) for line in ended.stdout.splitlines()]
    spills = [e["result"]["details"].get("spill") for e in results if e["type"] == "tool_call_finished"]
    assert len(list(filter(None, spills))) >= 1
    assert KEY not in ended.stdout + ended.stderr
    # The calls are the model's own words; what they found is not there.
    told = [json.dumps(json.loads(body)["messages"][-1]) for body in bodies]
    assert [text for text in told if KEY in text] == []
    assert "[redacted]" in told[1]
    assert "[redacted]" in told[2]
    assert "[redacted]" in told[3]
    assert holders(Path.home()) == []


@pytest.mark.parametrize("failing", [error(401), error(400), "broken"])
def test_errors_tell_nothing_of_it(folder: Path, failing: object) -> None:
    with ThreadedAPI([failing]) as api:
        ended = run(folder, "-p", f"my key is {KEY}", ANTHROPIC_BASE_URL=api.url)
    assert KEY not in ended.stdout + ended.stderr
    assert holders(Path.home()) == []


def test_every_file_is_private_whatever_the_umask(folder: Path) -> None:
    (folder / "loud.sh").write_text("for i in $(seq 20000); do echo $i $i $i; done\n")
    script = [
        reply(call("write_file", {"path": "new.txt", "content": "x\n"})),
        reply(call("run_command", {"command": "bash loud.sh"})),
        "done",
    ]
    with ThreadedAPI(script) as api:
        ended = run(
            folder,
            "-p",
            "go",
            "--mode=auto",
            "--allow=run_command(bash *)",
            umask=0,
            ANTHROPIC_BASE_URL=api.url,
        )
    assert ended.returncode == 0, ended.stderr
    ours = list(paths.state_folder().rglob("*"))
    assert any("output" in path.parts for path in ours)
    wrong = [
        (path, oct(stat.S_IMODE(path.stat().st_mode)))
        for path in (paths.state_folder(), *ours)
        if stat.S_IMODE(path.stat().st_mode) != (0o700 if path.is_dir() else 0o600)
    ]
    assert wrong == []


def test_a_key_that_is_cut_by_reads_is_found_all_the_same(tmp_path: Path) -> None:
    keys = Credentials(KEY)
    line = b"x" * (LINE - 7) + KEY.encode() + b"y" * 3_000 + KEY.encode() + b"\n"
    data = line * ((HEAD + TAIL) // len(line) + 4)
    for step in (1_000, 4_099, len(data)):
        capture = Capture(tmp_path / str(step), scrub=keys.redact_bytes)
        for start in range(0, len(data), step):
            capture.feed(data[start : start + step])
            assert KEY[:20] not in capture.latest()[:-40]
        text = capture.take()
        capture.close()
        assert capture.path is not None
        assert KEY.encode() not in capture.path.read_bytes()
        assert KEY not in text


async def test_errors_of_tools_are_filtered_too() -> None:
    def fail(parameters: object, signal: CancelSignal) -> str:
        raise ToolError(f"no {KEY} here")

    tool = DiscreetTool(AgentTool("t", "", {"type": "object"}, execute=fail), Credentials(KEY).redact)
    (result,) = await execute_tool_calls(
        [ToolCall(id="1", name="t", arguments={})], [tool], signal=CancelSignal()
    )
    assert result.is_error
    assert result.content[0].text == "no [redacted] here"  # type: ignore[union-attr]
