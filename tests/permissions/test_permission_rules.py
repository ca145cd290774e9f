from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.permissions.modes import Mode
from tui_agent.permissions.rules import Rule, RuleError, parse_rule, quote_path, quote_word

FOLDER = "/proj"


def command_rule(pattern: str) -> Rule:
    return parse_rule("allow", f"run_command({pattern})")


@pytest.mark.parametrize(
    ("pattern", "words", "matches"),
    [
        ("git commit *", ["git", "commit"], True),
        ("git commit *", ["git", "commit", "-m", "x y"], True),
        ("git commit *", ["git", "commitx"], False),
        ("git commit *", ["git"], False),
        ("git commit", ["git", "commit", "-m"], False),
        ("git *", ["git"], True),
        ("git*", ["git", "x"], False),
        ("git*", ["git-lfs"], True),
        ("npm run test:*", ["npm", "run", "test:unit"], True),
        ("npm run test:*", ["npm", "run", "test:unit", "x"], False),
        ("npm run *:unit *", ["npm", "run", "a:unit"], True),
        ("* --version", ["node", "--version"], True),
        ("* --version", ["--version"], False),
        ("*", ["anything", "at", "all"], True),
        ("echo '*'", ["echo", "*"], True),
        ("echo '*'", ["echo", "x"], False),
        ("echo \\*", ["echo", "x"], False),
        ('git commit -m "fix it"', ["git", "commit", "-m", "fix it"], True),
        ('git commit -m "fix it"', ["git", "commit", "-m", "fix", "it"], False),
        ("echo a*b", ["echo", "a\nb"], True),
        ("make", [None], False),
        ("make *", ["make", None], True),
        ("make x", ["make", None], False),
    ],
)
def test_a_command_is_compared_word_by_word(pattern: str, words: list[str | None], matches: bool) -> None:
    assert command_rule(pattern).matches_words(words) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**", "/proj/src/a/b.py", True),
        ("src/**", "/proj/src", True),
        ("src/**", "/proj/srcx", False),
        ("src/*", "/proj/src/a/b.py", False),
        ("src/*", "/proj/src/a", True),
        ("src/", "/proj/src/a/b", True),
        ("**", "/proj/a/b", True),
        ("**", "/projx/a", False),
        ("**", "/etc/passwd", False),
        ("**/*.py", "/proj/a.py", True),
        ("**/*.py", "/proj/a/b.py", True),
        ("**/*.py", "/proj/a/b.pyc", False),
        ("a/**/z", "/proj/a/z", True),
        ("a/**/z", "/proj/a/b/c/z", True),
        ("*.py", "/proj/a/b.py", False),
        ("./a", "/proj/a", True),
        ("?.py", "/proj/ab.py", False),
        ("[ab].py", "/proj/b.py", True),
        ("[!ab].py", "/proj/b.py", False),
        ("[a", "/proj/[a", True),
        ("a.b", "/proj/axb", False),
        ("/etc/*", "/etc/passwd", True),
        ("/etc/*", "/proj/etc/passwd", False),
        ("/**", "/etc/passwd", True),
    ],
)
def test_a_path_is_matched_as_a_glob(pattern: str, path: str, matches: bool) -> None:
    assert parse_rule("allow", f"write_file({pattern})").matches_path(path, FOLDER) is matches


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/rulestest")
    rule = parse_rule("allow", "read_file(~/notes/**)")
    assert rule.matches_path("/home/rulestest/notes/a", FOLDER)
    assert not rule.matches_path("/home/rulestest/other", FOLDER)


def test_a_stricter_rule_about_a_folder_means_what_is_in_it() -> None:
    rule = parse_rule("deny", "read_file(private)")
    assert rule.matches_path("/proj/private/a/b", FOLDER, within=True)
    assert not rule.matches_path("/proj/private/a/b", FOLDER)
    assert not rule.matches_path("/proj/privateer", FOLDER, within=True)


def test_file_rules_cover_the_tools_that_do_the_same() -> None:
    assert parse_rule("allow", "write_file(a)").covers("edit_file")
    assert parse_rule("deny", "read_file").covers("search_files")
    assert not parse_rule("allow", "edit_file(a)").covers("write_file")
    assert not parse_rule("allow", "read_file").covers("write_file")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("(x)", 0),
        ("run_command git", 11),
        ("run_command(git", 15),
        ("run_command()", 12),
        ("run_command(  )", 12),
        ("run_command(echo 'x)", 17),
        ('run_command(echo "x)', 17),
        ("write_file(a) b", 15),
    ],
)
def test_a_bad_rule_says_where(text: str, position: int) -> None:
    with pytest.raises(RuleError) as error:
        parse_rule("allow", text)
    assert error.value.position == position
    assert f"character {position + 1}" in str(error.value)


def test_a_project_only_makes_things_stricter() -> None:
    assert parse_rule("deny", "run_command(curl *)", "project").origin == "project"
    assert parse_rule("ask", "write_file(db/**)", "project").verdict == "ask"
    with pytest.raises(RuleError, match="only ask or deny"):
        parse_rule("allow", "run_command(curl *)", "project")


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=0, max_size=12)


@settings(deadline=None, max_examples=150)
@given(st.lists(texts, min_size=1, max_size=5), st.lists(texts, min_size=1, max_size=5))
def test_quoted_words_mean_themselves_only(words: list[str], others: list[str]) -> None:
    if words[-1].endswith(")") or not "".join(words).strip():
        words = ["x", *words, "x"]
    rule = command_rule(" ".join(map(quote_word, words)))
    assert rule.matches_words(words)
    assert rule.matches_words(others) is (others == words)


names = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)


@settings(deadline=None, max_examples=150)
@given(st.lists(names, min_size=1, max_size=3), st.lists(names, min_size=1, max_size=3))
def test_a_quoted_path_means_itself_only(parts: list[str], others: list[str]) -> None:
    path, other = "/".join(parts), "/".join(others)
    rule = parse_rule("allow", f"write_file({quote_path(path)})")
    assert rule.matches_path(os.path.join(FOLDER, path), FOLDER)
    assert rule.matches_path(os.path.join(FOLDER, other), FOLDER) is (other == path)


def test_the_modes_go_round() -> None:
    mode, seen = Mode.ASK, []
    for _ in Mode:
        seen.append(mode)
        mode = mode.next()
    assert mode is Mode.ASK
    assert sorted(seen) == sorted(Mode)
    assert [Mode.PLAN.writes, Mode.ASK.writes, Mode.ACCEPT_EDITS.writes] == ["deny", "ask", "allow"]
    assert all(mode.value in mode.note for mode in Mode)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "[ab]", "?"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["a", "b", "ab", ".a"]), min_size=1, max_size=5),
    st.sampled_from(["", "/", "./"]),
)
def test_within_means_the_path_or_a_folder_that_holds_it(
    pattern: list[str], parts: list[str], start: str
) -> None:
    rule = parse_rule("deny", f"read_file({start}{'/'.join(pattern)})")
    path = "/f/" + "/".join(parts)
    lineage = [path]
    while lineage[-1] != "/":
        lineage.append(os.path.dirname(lineage[-1]))
    held = any(rule.matches_path(place, "/f") for place in lineage)
    assert rule.matches_path(path, "/f", within=True) is held


@pytest.mark.parametrize("verdict", ["denny", "", "permit", "Deny"])
def test_a_verdict_that_is_none_is_refused(verdict: str) -> None:
    with pytest.raises(RuleError, match="a rule says allow, ask, deny"):
        parse_rule(verdict, "run_command(ls)")  # type: ignore[arg-type]
