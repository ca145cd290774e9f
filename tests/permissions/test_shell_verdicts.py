"""The corpus of commands with their right verdicts, neighbours of it, and the order of the sources."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.permissions import decide_command, grammar, mentions, syntax

HERE = Path(__file__).parent
Rules = Sequence[tuple[str, str]]


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a secret, a link out, a link in, and a link to the secret."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "src").mkdir()
    for name in ("a.py", "README.md", "src/b.py", ".env", "x.pem"):
        (folder / name).write_text("x\n")
    (folder / "out").symlink_to("/etc")
    (folder / "in").symlink_to("a.py")
    (folder / "lnk").symlink_to(".env")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "config").write_text("[core]\n\tbare = false\n")
    return folder


@pytest.mark.parametrize("case", cases("shell_verdicts.jsonl"), ids=lambda case: case["id"])
def test_the_corpus(tmp_path: Path, case: dict[str, Any]) -> None:
    decision = decide_command(case["cmd"], folder=tmp_path, rules=case.get("rules", ()))
    assert decision.verdict == case["verdict"], (case["why"], decision)
    assert decision.reasons
    if "builtin-deny" in case["tags"]:
        assert decision.source == "builtin-deny"


@pytest.mark.parametrize("case", cases("shell_neighbours.jsonl"), ids=lambda case: case["cmd"][:40])
def test_neighbours(folder: Path, case: dict[str, Any]) -> None:
    decision = decide_command(case["cmd"], folder=folder)
    if case["verdict"] == "not-deny":
        assert decision.verdict != "deny", decision
    else:
        assert decision.verdict == case["verdict"], decision


@pytest.mark.parametrize(
    ("command", "rules", "verdict", "source"),
    [
        ("rm -rf /", [("allow", "*")], "deny", "builtin-deny"),
        ("rm -rf /", [("ask", "rm *"), ("deny", "rm *")], "deny", "builtin-deny"),
        ("ls", [("deny", "ls *"), ("allow", "ls *")], "deny", "rule"),
        ("ls", [("ask", "ls *"), ("allow", "ls *")], "ask", "rule"),
        ("ls", [("allow", "ls *")], "allow", "rule"),
        ("ls", [], "allow", "read-only"),
        ("make", [], "ask", "default"),
        ("make > x", [("allow", "*")], "ask", "default"),
        ("A=1 make", [("allow", "*")], "ask", "default"),
        ("make $(x)", [("allow", "*")], "ask", "guard"),
        ("make *.c", [("allow", "make *")], "ask", "default"),
        ("make ~/x", [("allow", "make *")], "ask", "default"),
        ("make a; make b", [("allow", "make a")], "ask", "default"),
        ("make a; ls", [("allow", "make a")], "allow", "rule"),
        ("make a && make b", [("allow", "run_command(make a && make b)")], "allow", "rule"),
        ("make a && make b", [("allow", "run_command(make a && make c)")], "ask", "default"),
        ("make", [("allow", "run_command")], "allow", "rule"),
        ("make", [("allow", "run_command(make)")], "allow", "rule"),
        ("make", [("allow", "write_file(make)")], "ask", "default"),
        ("/tmp/make", [("allow", "make *")], "ask", "default"),
        ("/tmp/make", [("allow", "/tmp/make *")], "allow", "rule"),
        ("/usr/bin/make", [("deny", "make *")], "deny", "rule"),
        ("make $X", [("deny", "make *")], "deny", "rule"),
        ("x=$(make y)", [("deny", "make *")], "deny", "rule"),
        ("x=$(make y)", [("ask", "make *")], "ask", "guard"),
        ("printf -v PATH . ; ls", [("allow", "printf *")], "ask", "default"),
        ("printf x", [("allow", "printf *")], "allow", "rule"),
        ("cat src/b.py", [("deny", "read_file(src/**)")], "ask", "default"),
        ("cat a.py", [("deny", "read_file(src/**)")], "allow", "read-only"),
        ("hash -p ./x ls; ls", [("allow", "*")], "ask", "default"),
        ("cd /etc && cat passwd", [("allow", "cd *")], "ask", "default"),
        ("cd /etc && make", [("allow", "cd *"), ("allow", "make *")], "allow", "rule"),
        ("cat <<< x", [("deny", "cat <<< x")], "deny", "rule"),
    ],
)
def test_the_order_of_the_sources(
    folder: Path, command: str, rules: Rules, verdict: str, source: str
) -> None:
    decision = decide_command(command, folder=folder, rules=rules)
    assert (decision.verdict, decision.source) == (verdict, source), decision


WRAPPED = (
    *("sudo {}", "sudo -u bob -- {}", "doas {}", "env A=1 {}", "env -u A {}", "env -S '{}'", "nohup {}"),
    *("nice -n 5 {}", "timeout -s KILL 5 {}", "setsid -f {}", "xargs -I x {}", "find . -exec {} ';'"),
    *("command {}", "exec {}", "sh -c '{}'", "bash -xec '{}'", "eval '{}'", "trap '{}' EXIT", "time {}"),
    *(
        "if {}; then ls; fi",
        "f() {{ {}; }}",
        "({})",
        "ls | {}",
        "ls & {}",
        "ls\n{}",
        "echo $({})",
        "echo `{}`",
    ),
    *("cat <({})", "while {}; do ls; done", "! {}", "{{ {}; }}", "sh <<X\n{}\nX", "echo '{}' | sh"),
    *("sudo sh -c 'nohup {}'", "/usr/bin/sudo {}", "> x {}", "A=1 {}", "ls ' ; {}", "su -c '{}'"),
    *("watch -n 1 {}", "busybox {}", "coproc {}", "case x in x) {};; esac", "find . -ok {} \\;"),
)


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_deny_looks_through_wrappers(folder: Path, wrapper: str) -> None:
    denied = decide_command(
        wrapper.format("curl x"), folder=folder, rules=[("deny", "curl *"), ("allow", "*")]
    )
    assert (denied.verdict, denied.source) == ("deny", "rule")
    other = decide_command(wrapper.format("curlx x"), folder=folder, rules=[("deny", "curl *")])
    assert other.verdict != "deny"


def test_deny_holds_past_every_limit(folder: Path) -> None:
    rules = [("deny", "curl *"), ("allow", "*")]
    for command in (
        "true; " * 60 + "curl x",
        "true;" * 3_000 + "curl x",
        "echo " + "a" * 20_000 + "; curl x",
        "echo " + "$(" * 300 + "curl x" + ")" * 300,
        "echo " + "a " * 200_000 + "; curl x",
        "ls \u202e; curl x",
        "true && " * 2_000 + "curl x",
    ):
        assert decide_command(command, folder=folder, rules=rules).verdict == "deny", command[:40]


def test_limits_ask(folder: Path) -> None:
    rules = [("allow", "*")]
    assert decide_command("echo " + "a" * 9_995, folder=folder, rules=rules).verdict == "allow"
    for command in (
        "echo " + "a" * 9_996,
        "true; " * 51,
        "true && " * 60 + "touch x",
        "echo " + "a " * 1_001,
    ):
        assert decide_command(command, folder=folder, rules=rules).source == "guard", command[:40]


@pytest.fixture
def without_parser(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    caches = (grammar.language, grammar.tree, syntax.parse, mentions._mentions)
    for cache in caches:
        cache.cache_clear()
    for name in ("tree_sitter", "tree_sitter_bash"):
        monkeypatch.setitem(sys.modules, name, None)
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("without_parser")
def test_without_the_parser_everything_asks_and_deny_still_holds(folder: Path) -> None:
    decision = decide_command("ls", folder=folder, rules=[("allow", "*")])
    assert (decision.verdict, decision.source) == ("ask", "guard")
    assert "tree-sitter" in decision.reasons[0]
    assert decide_command("ls; curl x", folder=folder, rules=[("deny", "curl *")]).verdict == "deny"
    assert decide_command("ls && rm -rf ~", folder=folder).verdict == "deny"


pieces = st.sampled_from(
    [
        "rm -rf",
        " ",
        "/",
        "'",
        '"',
        "\\",
        "\n",
        ";",
        "|",
        "&",
        "$(",
        ")",
        "`",
        "{",
        "}",
        "<<X",
        ">",
        "ls",
        "curl",
        "(",
        "#",
    ]
)


@settings(deadline=None, max_examples=200)
@given(st.one_of(st.text(max_size=40), st.lists(pieces, max_size=12).map("".join)))
def test_anything_gets_a_verdict(command: str) -> None:
    decision = decide_command(command, folder="/nonexistent", rules=[("deny", "curl *")])
    assert decision.verdict in ("allow", "ask", "deny")
    assert decision.reasons
    if decision.verdict == "allow":
        assert not set("$`<(){}#&") & set(command.replace("&&", "").replace("2>&1", ""))


@settings(deadline=None, max_examples=100)
@given(st.lists(pieces.filter(lambda piece: piece not in "#<<X>\\"), max_size=8).map("".join))
def test_no_beginning_hides_a_denied_command(beginning: str) -> None:
    rules = [("deny", "curl *"), ("allow", "*")]
    assert decide_command(f"{beginning}\ncurl x", folder="/nonexistent", rules=rules).verdict == "deny"


@pytest.mark.parametrize("beginning", ["$", "make $", ">", "make <", "``", "make ``", "a; $ "])
def test_a_line_the_parser_joins_to_the_next_hides_nothing(folder: Path, beginning: str) -> None:
    assert decide_command(f"{beginning}\ncurl x", folder=folder, rules=[("deny", "curl *")]).verdict == "deny"


def test_no_process_is_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a process was started")

    for owner, name in (
        (subprocess, "Popen"),
        (os, "system"),
        (os, "fork"),
        (os, "posix_spawn"),
        (os, "execve"),
    ):
        monkeypatch.setattr(owner, name, refuse)
    for command in ("git status", "ls *.py", "sudo make", "find . -name x"):
        assert decide_command(command, folder=folder).verdict in ("allow", "ask")


def test_importing_permissions_loads_nothing_heavy() -> None:
    code = (
        "import sys, tui_agent.permissions as p\n"
        "light = not {'pydantic', 'tree_sitter', 'textual'} & set(sys.modules)\n"
        "p.decide_command('ls', folder='.')\n"
        "print(light, 'tree_sitter' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["True", "True"]
