"""`tui-agent -p` as a script sees it: a process, its two outputs, its exit code; the model over real HTTP."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from server.messages_api import call, error, reply, text
from server.threaded import ThreadedAPI

from tui_agent import paths
from tui_agent.headless import exit_code

KEY = "sk-test-0123456789abcdef"
COMMAND = [sys.executable, "-m", "tui_agent"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.txt").write_text("one\ntwo\n")
    return tmp_path / "project"


def environment(api: ThreadedAPI) -> dict[str, str]:
    return os.environ | {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": api.url}


def ask(
    api: ThreadedAPI, folder: Path, *options: str, prompt: str = "hello", stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "-p", prompt, *options],
        cwd=folder,
        env=environment(api),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def started(api: ThreadedAPI, folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*COMMAND, "-p", "hello", *options],
        cwd=folder,
        env=environment(api),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def alive(mark: str) -> list[str]:
    """Processes whose command line has `mark` in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
            if mark in line:
                found.append(line)
    return found


def test_stdout_is_the_answer_and_nothing_else(folder: Path) -> None:
    with ThreadedAPI(
        [reply(text("Let me look."), call("read_file", {"path": "a.txt"})), "It has **two** lines."]
    ) as api:
        run = ask(api, folder)
    assert (run.returncode, run.stdout, run.stderr) == (0, "It has **two** lines.\n", "")
    assert "two" in json.dumps(api.requests[1].body["messages"][-1])


def test_the_prompt_can_come_from_stdin(folder: Path) -> None:
    with ThreadedAPI(["ok"]) as api:
        run = ask(api, folder, prompt="-", stdin="from a pipe: é\n")
    assert run.returncode == 0
    assert "from a pipe: é" in json.dumps(api.requests[0].body["messages"], ensure_ascii=False)


def test_json_tells_the_whole_turn(folder: Path) -> None:
    script = [
        reply(
            call("read_file", {"path": "a.txt"}, "r1"),
            call("write_file", {"path": "b", "content": "x"}, "w1"),
        )
    ]
    with ThreadedAPI([*script, "done"]) as api:
        run = ask(api, folder, "--output-format", "json")
    told = json.loads(run.stdout)
    assert list(told) == ["session", "stop_reason", "error", "text", "usage", "calls", "denied", "exit_code"]
    assert (told["stop_reason"], told["text"], told["exit_code"], run.returncode) == (
        "end_turn",
        "done",
        3,
        3,
    )
    assert [(c["id"], c["name"], c["is_error"]) for c in told["calls"]] == [
        ("r1", "read_file", False),
        ("w1", "write_file", True),
    ]
    assert [d["id"] for d in told["denied"]] == ["w1"]
    assert told["usage"]["output_tokens"] > 0
    assert len(list(paths.sessions_folder().rglob(f"{told['session']}/session.jsonl"))) == 1


def test_stream_json_is_one_event_a_line(folder: Path) -> None:
    with ThreadedAPI([reply(call("read_file", {"path": "a.txt"})), "done"]) as api:
        run = ask(api, folder, "--output-format", "stream-json")
    types = [json.loads(line)["type"] for line in run.stdout.splitlines()]
    assert types[:2] == ["session_started", "turn_started"]
    assert types[-1] == "turn_ended"
    assert {"text_delta", "tool_call_started", "tool_call_finished", "assistant_message_done"} <= set(types)


def test_a_call_nobody_can_approve_is_an_error_result_and_the_turn_goes_on(folder: Path) -> None:
    with ThreadedAPI([reply(call("run_command", {"command": "touch made"})), "I could not."]) as api:
        run = ask(api, folder)
    assert (run.returncode, run.stdout) == (3, "I could not.\n")
    assert "touch made" in run.stderr
    assert not (folder / "made").exists()
    (result,) = api.requests[1].body["messages"][-1]["content"]
    assert result["is_error"]
    assert "nobody is here" in json.dumps(result)


@pytest.mark.parametrize(
    "options",
    [["--allow", "run_command(touch made)"], ["--allow", "run_command(touch *)"], ["--allow", "run_command"]],
)
def test_a_rule_lets_a_command_run(folder: Path, options: list[str]) -> None:
    with ThreadedAPI([reply(call("run_command", {"command": "touch made"})), "done"]) as api:
        run = ask(api, folder, *options)
    assert (run.returncode, run.stdout, run.stderr) == (0, "done\n", "")
    assert (folder / "made").exists()


def test_deny_wins_and_is_no_missing_approval(folder: Path) -> None:
    with ThreadedAPI([reply(call("run_command", {"command": "touch made"})), "no"]) as api:
        run = ask(api, folder, "--mode", "auto", "--allow", "run_command", "--deny", "run_command(touch *)")
    assert run.returncode == 0
    assert not (folder / "made").exists()


def test_accept_edits_writes_and_plan_refuses(folder: Path) -> None:
    script = [reply(call("write_file", {"path": "b.txt", "content": "new\n"})), "done"]
    with ThreadedAPI(script) as api:
        assert ask(api, folder, "--mode", "plan").returncode == 0
        assert not (folder / "b.txt").exists()
    with ThreadedAPI(script) as api:
        assert ask(api, folder, "--mode", "accept-edits").returncode == 0
    assert (folder / "b.txt").read_text() == "new\n"


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ([error(401, message="invalid x-api-key")], 1, "key"),
        ([error(404, message="model: nope")], 1, "model"),
        ([error(400, message="bad")], 1, "bad"),
        ([reply(text("cut"), stop_reason="max_tokens")], 1, "cut by the output limit"),
        ([reply(text("no"), stop_reason="refusal")], 1, "declined"),
        ([reply(call("list_files", {"path": "."})) for _ in range(9)], 4, "step limit"),
    ],
)
def test_how_a_turn_ends_is_told_by_code_and_words(
    folder: Path, script: list[Any], code: int, words: str
) -> None:
    with ThreadedAPI(script) as api:
        run = ask(api, folder, "--max-steps", "2")
    assert run.returncode == code
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert KEY not in run.stderr


def test_a_dead_endpoint_is_an_error_after_the_first_request(folder: Path) -> None:
    with ThreadedAPI([]) as api:
        pass
    process = subprocess.Popen(
        [*COMMAND, "-p", "x"],
        cwd=folder,
        env=environment(api),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "Trying again in" in process.stderr.readline()  # waits are told
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_a_signal_ends_stream_and_children(folder: Path, number: signal.Signals, code: int) -> None:
    mark = f"31415{os.getpid()}{int(number)}"
    (folder / "spawn.sh").write_text("sleep $1 & setsid sleep $1 & echo > ready; wait")
    os.mkfifo(folder / "ready")
    ready = os.open(folder / "ready", os.O_RDONLY | os.O_NONBLOCK)
    with (
        ThreadedAPI([reply(call("run_command", {"command": f"bash spawn.sh {mark}"}))]) as api,
        started(api, folder, "--allow", "run_command(bash spawn.sh *)") as process,
    ):
        assert select.select([ready], [], [], 60)[0] == [ready]
        assert alive(mark)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out) == (code, ""), err
        assert alive(mark) == []
    os.close(ready)


def test_a_signal_during_the_stream_closes_the_socket(folder: Path) -> None:
    with (
        ThreadedAPI([reply(text("a b c d e f"), pace=0.01).cut(after=4, how="hang")]) as api,
        started(api, folder, "--output-format", "stream-json") as process,
    ):
        assert process.stdout is not None
        while "text_delta" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        assert process.wait(30) == 143
        assert json.loads(rest.splitlines()[-1])["stop_reason"] == "cancelled"
        api.until(lambda: api.requests[0].closed)


def test_what_the_caller_ignores_stays_ignored(folder: Path) -> None:
    with ThreadedAPI([reply(text("x"), delay=0.3)]) as api:
        run = subprocess.run(
            ["bash", "-c", 'trap "" HUP; "$@" & kill -HUP $!; wait $!', "bash", *COMMAND, "-p", "x"],
            cwd=folder,
            env=environment(api),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (run.returncode, run.stdout) == (0, "x\n")


def test_a_reader_that_goes_away_ends_the_run_quietly(folder: Path) -> None:
    with (
        ThreadedAPI([reply(text("x " * 100), pace=0.01)]) as api,
        started(api, folder, "--output-format", "stream-json") as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait(30) == 1
        assert "Traceback" not in errors
        assert "Exception" not in errors


def test_continue_goes_on_with_the_same_prefix(folder: Path) -> None:
    with ThreadedAPI(["first answer", "second answer", "third"]) as api:
        one = json.loads(ask(api, folder, "--output-format", "json").stdout)
        two = json.loads(ask(api, folder, "--output-format", "json", "--continue", prompt="again").stdout)
        three = ask(api, folder, f"--resume={one['session']}", "--mode", "plan")
    assert two["session"] == one["session"]
    before, after = (request.body for request in api.requests[:2])
    assert (after["system"], after["tools"]) == (before["system"], before["tools"])
    assert [m["role"] for m in after["messages"]] == ["user", "assistant", "user"]
    assert "first answer" in json.dumps(after["messages"][1])
    assert (three.returncode, three.stdout) == (0, "third\n")
    assert len(api.requests[2].body["messages"]) == 5


def test_a_session_that_is_open_elsewhere_is_copied_and_that_is_told(folder: Path) -> None:
    with ThreadedAPI(["first", reply(text("slow")).cut(after=2, how="hang"), "copy"]) as api:
        one = json.loads(ask(api, folder, "--output-format", "json").stdout)
        with started(api, folder, "--continue"):
            api.until(lambda: len(api.requests) == 2, 30)
            run = ask(api, folder, "--continue", "--output-format", "json")
    assert run.returncode == 0
    assert json.loads(run.stdout)["session"] != one["session"]
    assert "open in another program" in run.stderr


def test_the_key_is_in_no_file_and_no_output(folder: Path) -> None:
    script = [reply(call("run_command", {"command": f"echo {KEY}; env"})), f"the key is {KEY}"]
    with ThreadedAPI(script) as api:
        run = ask(api, folder, "--allow", "run_command", "--output-format", "stream-json")
    assert run.returncode == 0
    assert KEY not in run.stdout + run.stderr
    files = [path for path in Path.home().rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []


def test_commands_do_not_see_the_key(folder: Path) -> None:
    (folder / "look.sh").write_text("env > seen; cat /proc/$PPID/environ >> seen")
    with ThreadedAPI([reply(call("run_command", {"command": "bash look.sh"})), "done"]) as api:
        ask(api, folder, "--allow", "run_command(bash look.sh)")
    assert KEY not in (folder / "seen").read_text()


def test_the_demo_works_without_a_screen(folder: Path) -> None:
    run = subprocess.run(
        [*COMMAND, "--demo", "-p", "what is this?"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 0
    assert "script" in run.stdout


@pytest.mark.parametrize(
    ("stop_reason", "unapproved", "signalled", "code"),
    [
        ("end_turn", False, 0, 0),
        ("stop_sequence", False, 0, 0),
        ("end_turn", True, 0, 3),
        ("step_limit", True, 0, 4),
        ("stuck", False, 0, 4),
        ("error", True, 0, 1),
        ("refusal", False, 0, 1),
        ("max_tokens", False, 0, 1),
        ("model_context_window_exceeded", True, 0, 1),
        ("something new", False, 0, 1),
        ("cancelled", True, 15, 143),
        ("end_turn", True, 2, 130),
        ("error", False, 1, 129),
    ],
)
def test_precedence_of_exit_codes(stop_reason: str, unapproved: bool, signalled: int, code: int) -> None:
    assert exit_code(stop_reason, unapproved=unapproved, signalled=signalled) == code
