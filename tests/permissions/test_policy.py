from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from pendings import pending

from tui_agent.agent import Allow, Deny
from tui_agent.permissions import Mode, Policy, RuleError, parse_rule
from tui_agent.permissions.modes import Verdict
from tui_agent.permissions.policy import NOT_READ, Ruling
from tui_agent.permissions.state_file import StateFileError

PROTECTED = """
    .git/hooks/pre-commit .git/config .GIT/hooks/x sub/.git/config .tui-agent/settings.toml .vscode/tasks.json
    .idea/x.xml .github/workflows/ci.yml .GitHub/Workflows/ci.yml .envrc .mcp.json .bashrc sub/.zshrc .profile
    .husky/pre-commit .gitlab-ci.yml .env .env.local id_rsa .npmrc
"""
SECRET = """
    .env .env.production config/.ENV id_rsa keys/server.pem x.key .netrc .npmrc credentials.json .aws/config
    .git-credentials Credentials
"""
ORDINARY = "environment.py keys.py src/credit.py monkey.txt .github/x.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work" / "src").mkdir(parents=True)
    (tmp_path / "work" / "a.py").write_text("x\n")
    (tmp_path / "outside").mkdir()
    return tmp_path / "work"


def policy(folder: Path, mode: Mode = Mode.ASK, *rules: tuple[Verdict, str]) -> Policy:
    return Policy(mode, [parse_rule(verdict, text) for verdict, text in rules], folder)


def verdict(ruling: Ruling) -> tuple[str, str]:
    return ruling.verdict, ruling.by


@pytest.mark.parametrize(
    ("mode", "read", "write", "reading_command", "command"),
    [
        (Mode.PLAN, "allow", "deny", "deny", "deny"),
        (Mode.ASK, "allow", "ask", "ask", "ask"),
        (Mode.ACCEPT_EDITS, "allow", "allow", "ask", "ask"),
        (Mode.AUTO, "allow", "allow", "allow", "ask"),
    ],
)
def test_the_table_of_modes(
    folder: Path, mode: Mode, read: str, write: str, reading_command: str, command: str
) -> None:
    decide = policy(folder, mode).decide
    assert verdict(decide(pending("read_file", "a.py"))) == (read, "mode")
    assert verdict(decide(pending("search_files", "."))) == (read, "mode")
    assert verdict(decide(pending("edit_file", "a.py"))) == (write, "mode")
    assert verdict(decide(pending("write_file", "src/new.py"))) == (write, "mode")
    assert verdict(decide(pending("run_command", "ls src"))) == (reading_command, "mode")
    assert verdict(decide(pending("run_command", "make"))) == (command, "mode")


def test_in_the_sandbox_auto_runs_every_command_that_no_rule_stops(folder: Path) -> None:
    rules = [parse_rule("deny", "run_command(curl *)"), parse_rule("ask", "run_command(git push *)")]
    sandboxed = Policy(Mode.AUTO, rules, folder, sandboxed=True)
    assert sandboxed.decide(pending("run_command", "make && ./x > out; $(y)")).verdict == "allow"
    assert sandboxed.decide(pending("run_command", "x=$(curl y)")).verdict == "deny"
    assert sandboxed.decide(pending("run_command", "(git push -f)")).verdict == "ask"
    assert sandboxed.decide(pending("run_command", "rm -rf ~")).verdict == "deny"
    sandboxed.mode = "ask"
    assert sandboxed.decide(pending("run_command", "make")).verdict == "ask"


@pytest.mark.parametrize("mode", list(Mode))
def test_deny_holds_in_every_mode(folder: Path, mode: Mode) -> None:
    decide = policy(
        folder,
        mode,
        ("allow", "write_file"),
        ("allow", "run_command"),
        ("deny", "write_file(src/**)"),
        ("deny", "read_file(a.py)"),
        ("deny", "run_command(make *)"),
    ).decide
    assert decide(pending("edit_file", "src/x")).verdict == "deny"
    assert decide(pending("read_file", "a.py")).verdict == "deny"
    assert decide(pending("search_files", "a.py")).verdict == "deny"
    assert decide(pending("run_command", "sh -c 'make x'")).verdict == "deny"


def test_what_may_not_be_read_is_not_read_by_a_command_either(folder: Path) -> None:
    (folder / "private").mkdir()
    (folder / "link").symlink_to("private")
    auto = policy(folder, Mode.AUTO, ("deny", "read_file(private/**)"))
    for command in (
        "cat private/k",
        "cat link/k",
        "grep -r x .",
        "rg x",
        "head < private/k",
        "git show HEAD:private/k",
    ):
        assert auto.decide(pending("run_command", command)).verdict == "ask", command
    for command in ("cat a.py", "grep x a.py", "ls src"):
        assert auto.decide(pending("run_command", command)).verdict == "allow", command


def test_plan_mode_says_what_to_do_instead(folder: Path) -> None:
    ruling = policy(folder, Mode.PLAN, ("allow", "write_file"), ("allow", "run_command")).decide(
        pending("run_command", "ls")
    )
    assert verdict(ruling) == ("deny", "mode")
    assert "plan mode" in ruling.reasons[0]


def test_a_deny_rule_is_not_passed_by_a_link(folder: Path) -> None:
    (folder / "private").mkdir()
    (folder / "private" / "k").write_text("k")
    (folder / "link").symlink_to("private")
    (folder / "k2").symlink_to("private/k")
    decide = policy(folder, Mode.AUTO, ("deny", "read_file(private/**)")).decide
    for target in (
        "private/k",
        "link/k",
        "k2",
        "./src/../private/k",
        str(folder / "private" / "k"),
        "private",
    ):
        assert decide(pending("read_file", target)).verdict == "deny", target
    assert decide(pending("read_file", "a.py")).verdict == "allow"


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.ACCEPT_EDITS, Mode.AUTO])
@pytest.mark.parametrize("target", PROTECTED.split())
def test_protected_files_always_ask(folder: Path, mode: Mode, target: str) -> None:
    decide = policy(folder, mode, ("allow", "write_file"), ("allow", "write_file(**)")).decide
    assert verdict(decide(pending("write_file", target))) == ("ask", "mode")
    assert verdict(decide(pending("edit_file", target))) == ("ask", "mode")


def test_protected_files_ask_through_a_link(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "g").symlink_to(".git")
    assert policy(folder, Mode.AUTO).decide(pending("write_file", "g/hooks/x")).verdict == "ask"


@pytest.mark.parametrize("target", SECRET.split())
def test_secrets_ask_before_they_are_read(folder: Path, target: str) -> None:
    decide = policy(folder, Mode.AUTO, ("allow", "read_file(**)")).decide
    assert verdict(decide(pending("read_file", target))) == ("ask", "mode")


@pytest.mark.parametrize("target", ORDINARY.split())
def test_ordinary_names_are_not_secrets(folder: Path, target: str) -> None:
    assert policy(folder).decide(pending("read_file", target)).verdict == "allow"


def test_outside_the_folder_reading_asks_unless_a_rule_allows(folder: Path) -> None:
    other = folder.parent / "outside" / "notes.md"
    twin = folder.parent / "work-twin" / "a"
    (folder / "out").symlink_to(folder.parent / "outside")
    assert policy(folder).decide(pending("read_file", str(other))).verdict == "ask"
    assert policy(folder).decide(pending("read_file", str(twin))).verdict == "ask"
    assert policy(folder).decide(pending("list_files", "..")).verdict == "ask"
    assert policy(folder).decide(pending("read_file", "out/notes.md")).verdict == "ask"
    allowed = policy(folder, Mode.ASK, ("allow", f"read_file({other.parent}/**)"))
    assert verdict(allowed.decide(pending("read_file", str(other)))) == ("allow", "rule")
    assert allowed.decide(pending("read_file", str(twin))).verdict == "ask"
    assert policy(folder, Mode.AUTO).decide(pending("write_file", str(other))).verdict == "ask"


def test_an_allow_rule_needs_the_resolved_path(folder: Path) -> None:
    (folder / "src" / "out").symlink_to(folder.parent / "outside")
    decide = policy(folder, Mode.ASK, ("allow", "write_file(src/**)")).decide
    assert verdict(decide(pending("write_file", "src/a"))) == ("allow", "rule")
    assert decide(pending("write_file", "src/out/a")).verdict == "ask"
    assert decide(pending("write_file", "src/../a")).verdict == "ask"


def test_the_order_is_deny_ask_allow(folder: Path) -> None:
    rules: list[tuple[Verdict, str]] = [
        ("allow", "write_file(src/**)"),
        ("ask", "write_file(src/db/**)"),
        ("deny", "write_file(src/db/live/**)"),
    ]
    for order in (rules, rules[::-1]):
        decide = policy(folder, Mode.AUTO, *order).decide
        assert decide(pending("write_file", "src/a")).verdict == "allow"
        assert verdict(decide(pending("write_file", "src/db/a"))) == ("ask", "rule")
        assert decide(pending("write_file", "src/db/live/a")).verdict == "deny"


def test_what_was_not_read_is_never_overwritten_unseen(folder: Path) -> None:
    for decide in (
        policy(folder, Mode.AUTO).decide,
        policy(folder, Mode.ASK, ("allow", "write_file")).decide,
    ):
        ruling = decide(pending("write_file", "a.py", facts=["new", NOT_READ]))
        assert ruling.verdict == "ask"
        assert "read it first" in ruling.unasked
    plan = policy(folder, Mode.PLAN).decide(pending("write_file", "a.py", facts=[NOT_READ]))
    assert plan.verdict == "deny"


def test_tools_of_an_embedder_go_by_their_kind(folder: Path) -> None:
    auto = policy(folder, Mode.AUTO, ("allow", "deploy"), ("deny", "drop(prod)"))
    assert auto.decide(pending("lookup", "/not/a/path", kind="read")).verdict == "allow"
    assert auto.decide(pending("note", "text", kind="write")).verdict == "allow"
    assert auto.decide(pending("other", "x", kind="execute")).verdict == "ask"
    assert verdict(auto.decide(pending("deploy", "x", kind="execute"))) == ("allow", "rule")
    assert auto.decide(pending("drop", "prod", kind="execute")).verdict == "deny"
    assert policy(folder, Mode.PLAN).decide(pending("deploy", "x", kind="execute")).verdict == "deny"


def test_odd_targets_never_break_a_decision(folder: Path) -> None:
    for target in ("a\0b", "\udcff", "", "x" * 5000, "/", "~", "a\nb"):
        for tool in ("read_file", "write_file", "run_command"):
            assert policy(folder, Mode.AUTO).decide(pending(tool, target)).verdict in ("allow", "ask", "deny")


def test_a_search_leaves_out_what_is_denied_or_secret(folder: Path) -> None:
    rules = policy(folder, Mode.ASK, ("deny", "read_file(src/private/**)"))
    assert rules.hides("src/private/a")
    assert rules.hides(".env")
    assert rules.hides(str(folder / "src" / "private" / "a"))
    assert not rules.hides("src/a.py")


def test_grants_count_for_their_scope(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    first = Policy(Mode.ASK, (), folder, state_folder=state)
    first.grant("run_command(make a)", "turn")
    first.grant("run_command(make b)", "session")
    first.grant("run_command(make c)", "always")
    assert [first.decide(pending("run_command", f"make {x}")).verdict for x in "abc"] == ["allow"] * 3
    first.new_turn()
    assert [first.decide(pending("run_command", f"make {x}")).verdict for x in "abc"] == [
        "ask",
        "allow",
        "allow",
    ]
    again = Policy(Mode.ASK, (), folder, state_folder=state)
    assert [again.decide(pending("run_command", f"make {x}")).verdict for x in "abc"] == [
        "ask",
        "ask",
        "allow",
    ]
    other = Policy(Mode.ASK, (), folder / "src", state_folder=state)
    assert other.decide(pending("run_command", "make c")).verdict == "ask"
    link = tmp_path / "by-link"
    link.symlink_to(folder)
    same = Policy(Mode.ASK, (), link, state_folder=state)
    assert same.decide(pending("run_command", "make c")).verdict == "allow"


def test_a_revoked_grant_is_gone_for_good(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    first = Policy(Mode.ASK, (), folder, state_folder=state)
    kept = first.grant("run_command(make a)", "always")
    first.revoke(first.grant("run_command(make b)", "always"))
    assert first.rules == (kept,)
    assert first.decide(pending("run_command", "make b")).verdict == "ask"
    assert [rule.text for rule in Policy(Mode.ASK, (), folder, state_folder=state).rules] == [kept.text]


def test_grants_are_private(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    old = os.umask(0)
    try:
        Policy(Mode.ASK, (), folder, state_folder=state).grant("run_command(make)", "always")
    finally:
        os.umask(old)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()} == {0o600}
    assert str(folder) in json.loads((state / "grants.json").read_text())["folders"]


def test_a_bad_grant_is_refused_and_saves_nothing(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RuleError):
        Policy(Mode.ASK, (), folder, state_folder=tmp_path / "state").grant("run_command(", "always")
    assert not (tmp_path / "state").exists()


def test_a_saved_line_that_cannot_be_read_grants_nothing(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    texts = ["run_command(", 7, "run_command(make)"]
    (state / "grants.json").write_text(json.dumps({"folders": {os.path.realpath(folder): texts}}))
    assert [rule.text for rule in Policy(Mode.ASK, (), folder, state_folder=state).rules] == [
        "run_command(make)"
    ]


def test_a_broken_grants_file_grants_nothing_and_says_so_when_saving(folder: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "grants.json").write_text("{")
    rules = Policy(Mode.ASK, (), folder, state_folder=state)
    assert rules.rules == ()
    with pytest.raises(StateFileError, match="fix or move it"):
        rules.grant("run_command(make)", "always")
    assert rules.decide(pending("run_command", "make")).verdict == "allow"
    assert (state / "grants.json").read_text() == "{"


def test_a_state_folder_that_cannot_be_written_is_said(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    rules = Policy(Mode.ASK, (), folder, state_folder=tmp_path / "state")
    with pytest.raises(StateFileError, match="look at its folder"):
        rules.grant("run_command(make)", "always")
    assert rules.decide(pending("run_command", "make")).verdict == "allow"


def test_the_log_and_the_use_counts(folder: Path) -> None:
    rules = policy(folder, Mode.ASK, ("allow", "run_command(make)"))
    call = pending("run_command", "make")
    rule = rules.decide(call).rule
    assert rule is not None
    rules.record(call, Allow(call.proposal, "rule"), rule)
    rules.record(call, Deny("no", "user"))
    assert rules.uses(rule) == 1
    assert [(line.decision, line.by, line.rule) for line in rules.log] == [
        ("allow", "rule", "run_command(make)"),
        ("deny", "user", ""),
    ]


def test_the_same_call_is_known_however_it_is_spaced_or_wrapped(folder: Path) -> None:
    rules = policy(folder)
    for command in ("make   x", "sh -c 'make x'"):
        assert not rules.declined_twice(pending("run_command", "make x"))
        rules.record(pending("run_command", command), Deny("no"))
    assert rules.declined_twice(pending("run_command", "make x"))
    assert rules.declined_twice(pending("run_command", "'make' x"))
    assert not rules.declined_twice(pending("run_command", "make y"))
    rules.new_turn()
    assert not rules.declined_twice(pending("run_command", "make x"))


def test_a_denial_that_nobody_gave_is_not_remembered(folder: Path) -> None:
    rules = policy(folder)
    for _ in range(3):
        rules.record(pending("run_command", "make"), Deny("", "mode", unanswered=True))
    assert not rules.declined_twice(pending("run_command", "make"))
