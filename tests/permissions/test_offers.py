from __future__ import annotations

from pathlib import Path

import pytest
from pendings import pending

from tui_agent.permissions import Mode, Policy, RuleError, offer_rule, parse_rule
from tui_agent.permissions.offers import question_for


@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("npm test", "npm test"),
        ("git commit -m 'a b'", "git commit *"),
        ("git commit", "git commit"),
        ("cargo test --all", "cargo test *"),
        ("pytest -q 'tests/a b.py'", "pytest -q 'tests/a b.py'"),
        ("mypy src", "mypy src"),
        ("npm run build", "npm run build"),
        ("make test", "make test"),
        ("rm -rf build", "rm -rf build"),
        ("ruff check '*.py'", "ruff check '*.py'"),
    ],
)
def test_the_rule_on_offer(command: str, offer: str) -> None:
    assert offer_rule(pending("run_command", command)) == f"run_command({offer})"


RUNS_ANYTHING = (
    *(
        "bash -c x",
        "sh x.sh",
        "python3 -c 'print(1)'",
        "python -m pytest",
        "node x.js",
        "env make",
        "sudo ls",
    ),
    *("xargs rm", "find . -name x", "ssh host ls", "eval ls", "npx x", "/usr/bin/python3 x", "timeout 5 ls"),
    *("awk 1 a", "perl -e 1", "docker run x", "nohup ls", "command ls", "time ls", "watch ls", "trap x EXIT"),
    *(
        "npm test > out",
        "X=1 npm test",
        "npm test; $(x)",
        "npm test && mypy src",
        "ls *.py",
        "ls ~",
        "",
        "cd src",
    ),
    *("npm test &", "mypy 'a\nb'", "git bisect run x | cat", "python3.11 x", "pypy3 x"),
)


@pytest.mark.parametrize("command", RUNS_ANYTHING)
def test_no_rule_is_offered_for_what_runs_anything(command: str) -> None:
    assert offer_rule(pending("run_command", command)) is None


def test_an_offer_is_about_the_part_that_is_not_allowed_yet(tmp_path: Path) -> None:
    rules = [parse_rule("allow", "run_command(npm run build)")]
    question = question_for(pending("run_command", "npm run build && npm test"), (), str(tmp_path), rules)
    assert question.offer == "run_command(npm test)"


def test_an_offered_rule_covers_the_call_and_no_other_program(tmp_path: Path) -> None:
    for command in ("npm test", "git commit -m 'a b'", "echo '*' \"it's\" \\$x", "mypy --strict a=b"):
        offer = offer_rule(pending("run_command", command))
        assert offer is not None
        policy = Policy(Mode.ASK, [parse_rule("allow", offer)], tmp_path)
        assert policy.decide(pending("run_command", command)).verdict == "allow", command
        assert policy.decide(pending("run_command", f"{command}; make")).verdict == "ask"
        assert policy.decide(pending("run_command", "npm testx")).verdict == "ask"


def test_a_file_is_offered_as_itself(tmp_path: Path) -> None:
    offer = offer_rule(pending("edit_file", "src/[a]*.py"), str(tmp_path))
    assert offer == "write_file(src/[[]a][*].py)"
    policy = Policy(Mode.ASK, [parse_rule("allow", offer)], tmp_path)
    assert policy.decide(pending("write_file", "src/[a]*.py")).verdict == "allow"
    assert policy.decide(pending("write_file", "src/ab.py")).verdict == "ask"


@pytest.mark.parametrize("target", [".git/config", ".env", ".vscode/tasks.json", "id_rsa"])
def test_nothing_is_offered_for_what_always_asks(tmp_path: Path, target: str) -> None:
    assert offer_rule(pending("write_file", target), str(tmp_path)) is None


def test_reading_outside_is_allowed_once_only(tmp_path: Path) -> None:
    assert offer_rule(pending("read_file", "/etc/hosts"), str(tmp_path)) is None


@pytest.mark.parametrize(
    "rule",
    [
        *("run_command", "run_command(*)", "run_command(* x)", "run_command(py*)", "run_command(bash *)"),
        *("run_command(python3 -c x)", "run_command(sudo ls)", "run_command(/usr/bin/env x)"),
        *("run_command('ba'sh *)", "run_command(npx *)", "run_command(xargs rm)"),
    ],
)
def test_no_question_grants_what_runs_anything(tmp_path: Path, rule: str) -> None:
    policy = Policy(Mode.ASK, (), tmp_path, state_folder=tmp_path / "state")
    with pytest.raises(RuleError):
        policy.grant(rule, "always")
    assert policy.rules == ()
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("rule", ["run_command(git commit *)", "run_command(npm test)", "write_file(src/**)"])
def test_what_names_its_program_is_granted(tmp_path: Path, rule: str) -> None:
    assert Policy(Mode.ASK, (), tmp_path).grant(rule, "session").text == rule
