"""Whether a command may run, decided from its text alone. No process is started.

The order: what is refused for everyone, the person's deny rules, the guards, ask rules, allow rules, the
read-only list, and otherwise: ask. Deny looks at everything that looks like a command; allow needs every
command of the line covered, every word literal, no assignment and no redirect.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from tui_agent.permissions.denies import HINT, builtin_deny
from tui_agent.permissions.mentions import Words
from tui_agent.permissions.modes import Verdict
from tui_agent.permissions.readonly import ReadOnly
from tui_agent.permissions.rules import COMMAND_TOOL, Rule, parse_rule
from tui_agent.permissions.syntax import Script, Simple, parse
from tui_agent.permissions.words import names
from tui_agent.permissions.wrappers import base, everything

Source = Literal["builtin-deny", "rule", "guard", "read-only", "default"]

_UNQUOTE = str.maketrans("", "", "\\'\"")
_TOOL_FORM = re.compile(rf"{COMMAND_TOOL}|({COMMAND_TOOL}|\w+_files?)\(.*\)", re.DOTALL)
# They change the shell that runs the rest of the line, so a rule that covers them covers them alone.
_STATEFUL = names("""
    . source eval exec export declare typeset readonly local set shopt unset hash enable trap read mapfile
    readarray getopts let pushd popd umask ulimit bind complete compopt dirs printf command builtin alias
    unalias
    """)


@dataclass(frozen=True)
class Decision:
    """The verdict on a command, where it comes from, and the reasons in words for a person."""

    verdict: Verdict
    source: Source
    reasons: tuple[str, ...] = ()
    rule: Rule | None = None


def decide_command(
    command: str, *, folder: str | Path, rules: Iterable[Rule | Sequence[str]] = ()
) -> Decision:
    """Decide about `command`, to be run in `folder`.

    `rules` are `(verdict, "run_command(git commit *)")`; a bare pattern means a command as well.
    """
    return judge(command, os.path.realpath(folder), _rules(rules))


def judge(
    command: str,
    folder: str,
    rules: Sequence[Rule],
    *,
    read_only_list: bool = True,
    contained: bool = False,
) -> Decision:
    """`decide_command` for a policy: with or without the read-only list.

    `contained`: it runs in the sandbox, so what neither a deny nor an ask rule meets is allowed.
    """
    script = parse(command)
    commands = _Mentioned(command)
    if (reason := _refused(commands, folder)) is not None:
        return Decision("deny", "builtin-deny", (f"always refused: {reason}",))
    if (rule := commands.first(rules, "deny")) is not None:
        return Decision("deny", "rule", (f"the deny rule {rule.text} covers this",), rule)
    asks = commands.first(rules, "ask")
    asked = (
        None if asks is None else Decision("ask", "rule", (f"the ask rule {asks.text} covers this",), asks)
    )
    if contained:
        return asked or Decision("allow", "default", ("runs in the sandbox",))
    if script.guards:
        return Decision("ask", "guard", script.guards, asks)
    return asked or _allowed(command, script, folder, rules, read_only_list)


def _allowed(
    command: str, script: Script, folder: str, rules: Sequence[Rule], read_only_list: bool
) -> Decision:
    allow = [rule for rule in rules if rule.verdict == "allow" and rule.covers(COMMAND_TOOL)]
    whole = next((rule for rule in allow if rule.matches_text(command)), None)
    reader = ReadOnly(folder, rules)
    used: Rule | None = None
    reasons: list[str] = []
    for simple in script.plain:
        rule = whole or next((rule for rule in allow if _covers(rule, simple)), None)
        if simple.unsafe:
            reasons.append(f"{simple.text}: {simple.unsafe}" if simple.words else simple.unsafe)
        elif (
            rule is not None
            and all(word.literal for word in simple.words)
            and (whole or _alone(simple, script))
        ):
            used = rule
            reader.passed(simple)
        elif not read_only_list:
            reasons.append(f"{simple.text}: no rule covers it")
        elif (problem := reader.problem(simple)) is not None:
            reasons.append(f"{simple.text}: {problem}")
    if reasons:
        return Decision("ask", "default", tuple(dict.fromkeys(reasons)))
    if used is not None:
        return Decision("allow", "rule", (f"the allow rule {used.text} covers this",), used)
    return Decision("allow", "read-only", ("reads only, inside the folder",))


def _covers(rule: Rule, simple: Simple) -> bool:
    return rule.matches_words([word.value for word in simple.words])


def _alone(simple: Simple, script: Script) -> bool:
    """A builtin that changes the shell may poison the commands beside it."""
    return len(script.plain) == 1 or simple.words[0].value not in _STATEFUL


class _Mentioned:
    """All commands that a script mentions, looked up only if a rule could meet them."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.bare = command.replace("\\\n", "").translate(_UNQUOTE)
        self._all: list[Words] | None = None

    @property
    def all(self) -> list[Words]:
        if self._all is None:
            self._all = _everything(self.command, os.path.expanduser("~"))
        return self._all

    def first(self, rules: Sequence[Rule], verdict: Verdict) -> Rule | None:
        """The first rule of this verdict that meets anything in the script."""
        for rule in rules:
            if rule.verdict == verdict and rule.covers(COMMAND_TOOL):
                if rule.pattern is None or rule.matches_text(self.command):
                    return rule
                if rule.hint in self.bare and any(_meets(rule, words) for words in self.all):
                    return rule
        return None


@lru_cache(maxsize=32)
def _everything(command: str, home: str) -> list[Words]:
    return everything(command)


def _meets(rule: Rule, words: Words) -> bool:
    if rule.matches_words(words):
        return True
    name = base(words[0])
    return name != words[0] and rule.matches_words((name, *words[1:]))


def _refused(commands: _Mentioned, folder: str) -> str | None:
    if HINT.search(commands.bare) is None:
        return None
    return builtin_deny(commands.command, commands.all, folder)


def _rules(rules: Iterable[Rule | Sequence[str]]) -> list[Rule]:
    return [rule if isinstance(rule, Rule) else _rule(*rule) for rule in rules]


@lru_cache(maxsize=256)
def _rule(verdict: Verdict, text: str) -> Rule:
    return parse_rule(verdict, text if _TOOL_FORM.fullmatch(text.strip()) else f"{COMMAND_TOOL}({text})")


def command_key(command: str) -> str:
    """Equal for commands that differ only in blanks, quoting, and the wrappers around them."""
    mentioned = everything(command)
    plain = parse(command).plain
    return json.dumps([mentioned[-1]] if len(plain) == 1 and mentioned else [*mentioned, command])
