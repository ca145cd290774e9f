"""Text that means harm, on every surface: nothing of it is live in the bytes that reach the terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from server.messages_api import call, error, reply, text, thinking
from server.threaded import ThreadedAPI
from terminal.harness import Terminal, heavy

READY = r"Ask for a change"
ARMED = 0.7
Start = Callable[..., Terminal]

LIVE = [
    "\x1b]52;c;cHduZWQ=\x07",
    "\x1b]52;c;cHduZWQ=\x1b\\",
    "\x1b]0;PWNED\x07",
    "\x1b]8;;file:///etc/passwd\x07click\x1b]8;;\x07",
    "\x1b]777;notify;PWNED;x\x07",
    "\x1b[2J\x1b[HPWNED",
    "\x1b[?1049l",
    "\x1b[?31337h",
    "\x1b[31337;1m",
    "\x1b[6n",
    "\x1bc",
    "\x1b#8",
    "\x1bP$q\x1b\\",
    "\x1b_Ga=T;AAAA\x1b\\",
    "\x1b^x\x1b\\",
    "\x9b2J",
    "\x9d0;PWNED\x9c",
    "\x90q\x9c",
    "\x07\x08\x0b\x0c\x0e\x0f\x7f\x00",
    "a\rb",
    "\x1b",
]
HIDDEN = "a\u202eb\u2066c\u200bd\u2028e\U000e0041f\ufefff"
MARKUP = "[/] [/nope] [red]x[/blue] [@click=app.quit]q[/] [link=file:///x]l[/link] arr[i]['k'] [[ ]] x[/"
HTML = "Vec<String> <div>\nshown\n</div> <script>alert(1)</script>"
CORPUS = "\n".join([*LIVE, HIDDEN, MARKUP, HTML])
OURS = {"\x07"}
"""The program rings the bell itself."""


def harmless(term: Terminal) -> None:
    assert term.alive(), term.screen()
    assert set(term.smuggled()) <= OURS
    for word in (b"\x1b[31337", b"\x1b[?31337h", b"\x1bc", b"\x1b#8"):
        assert word not in term.raw
    for mark in ("\u202e", "\u2066", "\u200b", "\u2028", "\U000e0041", "\ufeff"):
        assert mark.encode() not in term.raw, f"U+{ord(mark):04X}"


def begin(terminal: Start, api: ThreadedAPI, *options: str) -> Terminal:
    term = terminal(*options, api=api)
    term.wait_for(READY)
    return term


def looked_at(term: Terminal) -> None:
    """Walk through every pane, open what can be opened, and come back."""
    for keys in (
        "\x1bOR",
        "\r",
        "\x1b[B",
        "\r",
        "\x1bOS",
        "\r",
        "\x1b",
        "\x1bOQ",
        "\x0f",
        "\x1b[5~",
        "\x1b",
        "\x1b[F",
    ):
        term.send(keys)
        time.sleep(0.12)
    term.quiet(0.3)


@pytest.mark.parametrize("chunk", [4096, *heavy(1)])
def test_words_of_the_model(terminal: Start, chunk: int) -> None:
    blocks = [
        thinking(CORPUS),
        text(f"{CORPUS}\n\n```sh\n{CORPUS}\n```\n\n| a | b |\n|---|---|\n| {LIVE[0]} | {MARKUP} |\n"),
    ]
    with ThreadedAPI([reply(*blocks, chunk=chunk), "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for(r"alert\(1\)")
        term.quiet(0.4)
        assert "<script>" in term.screen()
        looked_at(term)
        harmless(term)
        assert term.quit() == 0


def test_calls_results_and_files(terminal: Start, project: Path) -> None:
    evil = "e\x1b]0;PWNED\x07[x]\u202e.txt"
    (project / evil).write_text(CORPUS)
    (project / "hostile.txt").write_text(CORPUS)
    (project / "print.sh").write_text("cat hostile.txt; cat hostile.txt >&2\n")
    calls = [
        call("list_files", {"depth": 2}),
        call("read_file", {"path": evil}),
        call("search_files", {"pattern": "PWNED"}),
        call("run_command", {"command": "bash print.sh"}),
        call("read_file", {"path": f"no/{CORPUS}"}),
        call(f"tool{LIVE[2]}[/x]", {"x": CORPUS}),
        call("run_command", {"command": CORPUS, "timeout": "soon"}),
        call("edit_file", {"path": "a.txt", "old": CORPUS, "new": "x"}),
    ]
    with ThreadedAPI([reply(*calls), "fine."]) as api:
        term = begin(terminal, api, "--allow", "run_command(bash print.sh)")
        term.send("go\r")
        term.wait_for(r"fine\.")
        looked_at(term)
        harmless(term)
        assert term.quit() == 0


def test_questions(terminal: Start, project: Path) -> None:
    (project / "hostile.txt").write_text(CORPUS + "\n")
    calls = [
        call("run_command", {"command": f"echo '{CORPUS}'"}),
        call("write_file", {"path": "new\x1b]0;PWNED\x07[/x]\u202e.py", "content": CORPUS}),
        call("write_file", {"path": "new.md", "content": CORPUS}),
        call(
            "edit_file",
            {"path": "hostile.txt", "old": "PWNED", "new": f"{MARKUP}\x1b[2J", "replace_all": True},
        ),
    ]
    with ThreadedAPI([*(reply(one) for one in calls), "fine."]) as api:
        term = begin(terminal, api)
        term.send("go\r")
        for number in range(1, len(calls) + 1):
            term.wait_until(lambda n=number: len(api.requests) > n or "Approve" in term.screen(), "question")
            if "Approve" in term.screen():
                for keys in ("\x1b[6~", "\x1b[B", "v", "w", "\x1b[5~"):
                    term.send(keys)
                    time.sleep(0.1)
                harmless(term)
                time.sleep(ARMED)
                term.send("n")
                term.wait_until(lambda n=number: len(api.requests) > n, "answer")
        term.wait_for(r"fine\.")
        looked_at(term)
        harmless(term)
        assert term.quit() == 0


def test_errors_of_the_api(terminal: Start) -> None:
    script = [error(400, f"{MARKUP} {LIVE[0]}{LIVE[2]} {HIDDEN}"), error(529, CORPUS, retry_after=2), "fine."]
    with ThreadedAPI(script) as api:
        term = begin(terminal, api)
        term.send("go\r")
        term.wait_for(r"arr\[i\]\['k'\]")
        term.quiet(0.3)
        harmless(term)
        term.send("again\r")
        term.wait_for("retry in")
        harmless(term)


def test_names_of_folder_branch_and_instructions(terminal: Start, tmp_path: Path) -> None:
    folder = tmp_path / "p\x1b]0;PWNED\x07[/x]\u202eq"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/b\x1b]0;PWNED\x07[/y]\u202e\n")
    (folder / "AGENTS.md").write_text(CORPUS)
    with ThreadedAPI(["fine."]) as api:
        term = terminal(api=api, folder=folder)
        term.wait_for(r"(?i)trust")
        term.quiet(0.4)
        harmless(term)
        time.sleep(ARMED)
        term.send("y")
        term.wait_for(READY)
        term.send("go\r")
        term.wait_for(r"fine\.")
        harmless(term)
        assert term.quit() == 0


@pytest.mark.heavy
def test_a_stored_conversation(terminal: Start) -> None:
    with ThreadedAPI([reply(text(CORPUS), call("read_file", {"path": CORPUS})), f"{CORPUS}\n\nfine."]) as api:
        first = begin(terminal, api)
        first.send(f"\x1b[200~{CORPUS}\x1b[201~ now\r")
        first.wait_for(r"fine\.")
        harmless(first)
        assert first.quit() == 0
        second = terminal("--continue", api=api)
        second.wait_for(r"fine\.")
        looked_at(second)
        harmless(second)
        assert second.quit() == 0


def test_what_is_pasted(terminal: Start) -> None:
    with ThreadedAPI(lambda request: "fine.") as api:
        term = begin(terminal, api)
        few = "\n".join([*LIVE[:4], HIDDEN, MARKUP])
        term.send(f"\x1b[200~{few}\x1b[201~")
        term.wait_for(r"arr\[i\]\['k'\]")
        harmless(term)
        term.send(f"\x03\x1b[200~{CORPUS}\x1b[201~")
        term.wait_for("pasted")
        harmless(term)
        term.send("\x03")
        term.wait_for(READY)
        term.send("/nope\x1b]0;PWNED\x07[/x]\r")
        term.quiet(0.4)
        harmless(term)


def test_words_of_the_command_line_and_the_settings(
    terminal: Start, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "\x1b]0;PWNED\x07\x1b[2J[/x]\u202e\x9b2J"
    for arguments in (
        [f"{evil}"],
        [f"--{evil}"],
        ["--resume", evil],
        ["--mode", evil],
        ["--allow", f"{evil}("],
    ):
        term = terminal(*arguments)
        assert term.exit_code() == 2
        assert term.smuggled() == []
        assert "\u202e".encode() not in term.raw
    config = tmp_path / "config"
    (config / "tui-agent").mkdir(parents=True)
    (config / "tui-agent/settings.toml").write_text(
        f'model = "{evil[0:0]}\\u001b]0;PWNED\\u0007"\nnope = 1\n'
    )
    term = terminal(env={"XDG_CONFIG_HOME": str(config)})
    assert term.exit_code() == 2
    assert term.smuggled() == []
