"""What happens to a prepared call: it runs, it asks, or it is refused.

Deny rules come first and hold in every mode; then the mode's refusals; then whatever always asks (protected
and secret files, places outside the folder, ask rules); then allow rules; then the mode. A policy never asks
by itself: `gate` brings its questions to the broker and tells it the answers.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui_agent.agent.gate import Allow, Answer
from tui_agent.agent.tool import AgentTool, Pending
from tui_agent.permissions.decided import Decided
from tui_agent.permissions.grants import Grants
from tui_agent.permissions.modes import Mode, Verdict
from tui_agent.permissions.offers import check_grant
from tui_agent.permissions.places import is_protected, is_secret
from tui_agent.permissions.rules import COMMAND_TOOL, Rule, parse_rule
from tui_agent.permissions.shell import command_key, judge

Scope = Literal["turn", "session", "always"]
NOT_READ = "not read before"
"""The fact by which a file tool says that the model overwrites what it never read."""

_FILE_TOOLS = ("list_files", "read_file", "search_files", "edit_file", "write_file")
_BY_MODE = {
    "read": "reading runs in {} mode",
    "write": "a change in {} mode",
    "execute": "a command or an unknown tool in {} mode",
}
_PLAN = "plan mode: nothing is changed or run. Say what you would do; the person leaves this mode to do it"


@dataclass(frozen=True)
class Ruling:
    """What the policy says to one call. `unasked` is the answer to give if it asks and nobody is there."""

    verdict: Verdict
    by: Literal["rule", "mode"] = "mode"
    reasons: tuple[str, ...] = ()
    rule: Rule | None = None
    unasked: str = ""


class Policy:
    """Modes, rules and grants of one session in one folder. `mode` may be set at any time."""

    def __init__(
        self,
        mode: Mode | str = Mode.ASK,
        rules: Iterable[Rule] = (),
        folder: str | Path = ".",
        *,
        state_folder: str | Path | None = None,
        sandboxed: bool = False,
    ) -> None:
        self._mode = Mode(mode)
        self.folder = os.path.realpath(folder)
        self.sandboxed = sandboxed
        self.log: list[Decided] = []
        self._grants = Grants(self.folder, state_folder)
        self._rules = [*rules, *self._grants.load()]
        self._uses: Counter[tuple[str, str]] = Counter()
        self._denials: Counter[str] = Counter()

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode | str) -> None:
        self._mode = Mode(mode)

    @property
    def rules(self) -> tuple[Rule, ...]:
        return tuple(self._rules)

    def uses(self, rule: Rule) -> int:
        """How often `rule` decided a call in this session."""
        return self._uses[rule.verdict, rule.text]

    def add(self, rules: Iterable[Rule]) -> None:
        """Rules that became known later: those of a project that is trusted now."""
        self._rules += rules

    def grant(self, text: str, scope: Scope) -> Rule:
        """Allow what `text` says from now on; raises `RuleError` if it can't be read or is never granted.

        If it can't be saved (`StateFileError`), it still holds for this session.
        """
        origins: dict[Scope, Literal["turn", "session", "grant"]] = {
            "turn": "turn",
            "session": "session",
            "always": "grant",
        }
        rule = parse_rule("allow", text, origins[scope])
        check_grant(rule)
        if rule not in self._rules:
            self._rules.append(rule)
        if scope == "always":
            self._grants.add(rule)
        return rule

    def revoke(self, rule: Rule) -> None:
        """Drop a rule; a saved grant is removed from its file too."""
        self._rules.remove(rule)
        if rule.origin == "grant":
            self._grants.remove(rule)

    def new_turn(self) -> None:
        """Forget what counted for one turn: its grants, and what the person declined in it."""
        self._rules = [rule for rule in self._rules if rule.origin != "turn"]
        self._denials.clear()

    def declined_twice(self, pending: Pending) -> bool:
        """The person declined this same call twice in this turn: a third question would only nag."""
        return self._denials[_identity(pending)] >= 2

    def record(self, pending: Pending, answer: Answer, rule: Rule | None = None) -> Decided:
        """Keep who decided what, for the log, the use counts and `declined_twice`."""
        decision: Literal["allow", "deny"] = "deny"
        title, named = pending.proposal.title, ""
        if isinstance(answer, Allow):
            decision, title = "allow", answer.proposal.title
        elif answer.by == "user" and not answer.unanswered:
            self._denials[_identity(pending)] += 1
        if answer.by == "rule":
            named = rule.text if rule else "a built-in rule" if decision == "deny" else ""
        mode = self.mode.value if answer.by == "mode" else ""
        call = pending.call
        decided = Decided(call.id, call.name, title, decision, answer.by, named, mode)
        self.recall([decided])
        return decided

    def recall(self, decided: Iterable[Decided]) -> None:
        """Take into the log what was decided."""
        for one in decided:
            self.log.append(one)
            if one.by == "rule":
                self._uses[one.decision, one.rule] += 1

    def denies(self, path: str) -> bool:
        """A deny rule covers this file, however it is reached."""
        return self._path_rule("deny", "read_file", _names(path, self.folder)) is not None

    def hides(self, path: str) -> bool:
        """A search leaves this file out: a deny rule covers it, or it holds secrets nobody asked to see.

        `path` is real, as searches come by it: links are not resolved for every file of a tree.
        """
        name = os.path.join(self.folder, path)
        return (
            is_secret(_within(name, self.folder))
            or self._path_rule("deny", "search_files", (name,)) is not None
        )

    def decide(self, pending: Pending) -> Ruling:
        tool, proposal = pending.tool, pending.proposal
        if tool.name == COMMAND_TOOL and proposal.kind == "execute":
            return self._command(" ".join(proposal.targets))
        targets = _targets(pending)
        names = {target: _names(target, self.folder) for target in targets}
        flat = [name for group in names.values() for name in group]
        if rule := self._path_rule("deny", tool.name, flat):
            return Ruling("deny", "rule", (f"the deny rule {rule.text} covers this",), rule)
        if proposal.kind != "read" and self.mode is Mode.PLAN:
            return Ruling("deny", "mode", (_PLAN,))
        ruling = self._before_allow(tool, proposal.kind, targets, flat) or self._after_ask(
            tool, proposal.kind, names
        )
        return self._unread(pending, ruling)

    def _before_allow(
        self, tool: AgentTool, kind: str, targets: Sequence[str], names: list[str]
    ) -> Ruling | None:
        if rule := self._path_rule("ask", tool.name, names):
            return Ruling("ask", "rule", (f"the ask rule {rule.text} covers this",), rule)
        if kind != "execute":
            for target in targets:
                inside = [_within(name, self.folder) for name in _names(target, self.folder)]
                if kind == "write" and any(is_protected(name) for name in inside):
                    return Ruling("ask", "mode", (f"{target} is protected: other programs obey or run it",))
                if any(is_secret(name) for name in inside):
                    return Ruling("ask", "mode", (f"{target} may hold secrets",))
        return None

    def _after_ask(self, tool: AgentTool, kind: str, names: dict[str, list[str]]) -> Ruling:
        if rule := self._allow_rule(tool.name, names):
            return Ruling("allow", "rule", (f"the allow rule {rule.text} covers this",), rule)
        if tool.name in _FILE_TOOLS:
            for target, group in names.items():
                if any(_within(name, self.folder) == name for name in group):
                    return self._outside(target)
        verdict: Verdict = "allow"
        if kind == "write":
            verdict = self.mode.writes
        elif kind == "execute":
            verdict = self.mode.commands
        return Ruling(verdict, "mode", (_BY_MODE[kind].format(self.mode.value),))

    def _outside(self, target: str) -> Ruling:
        if self.mode is Mode.PLAN:
            return Ruling(
                "deny", "mode", (f"{target} is outside the working folder, where plan mode does not look",)
            )
        return Ruling("ask", "mode", (f"{target} is outside the working folder",))

    def _unread(self, pending: Pending, ruling: Ruling) -> Ruling:
        if ruling.verdict != "allow" or NOT_READ not in getattr(pending.proposal.details, "facts", ()):
            return ruling
        target = ", ".join(pending.proposal.targets)
        return Ruling(
            "ask",
            "mode",
            (f"{target} exists and was not read in this session",),
            unasked=f"{target} exists and you have not read it in this session: read it first, then write",
        )

    def _command(self, command: str) -> Ruling:
        plan, auto = self.mode is Mode.PLAN, self.mode is Mode.AUTO
        decision = judge(
            command, self.folder, self._rules, read_only_list=auto, contained=auto and self.sandboxed
        )
        by: Literal["rule", "mode"] = "rule" if decision.source in ("rule", "builtin-deny") else "mode"
        if plan and decision.verdict != "deny":
            return Ruling("deny", "mode", (_PLAN,))
        return Ruling(decision.verdict, by, decision.reasons, decision.rule)

    def _path_rule(self, verdict: Verdict, tool: str, names: Iterable[str]) -> Rule | None:
        """The first rule of this verdict that meets any of `names`."""
        for rule in self._rules:
            if rule.verdict == verdict and rule.covers(tool):
                if rule.pattern is None:
                    return rule
                if any(rule.matches_path(name, self.folder, within=True) for name in names):
                    return rule
        return None

    def _allow_rule(self, tool: str, names: dict[str, list[str]]) -> Rule | None:
        """A rule that meets every name of every target."""
        for rule in self._rules:
            if rule.verdict == "allow" and rule.covers(tool):
                flat = [name for group in names.values() for name in group]
                if rule.pattern is None or (
                    flat and all(rule.matches_path(name, self.folder) for name in flat)
                ):
                    return rule
        return None


def _targets(pending: Pending) -> tuple[str, ...]:
    """The paths a call is about. A file tool that prepares nothing still says its path in its arguments."""
    tool = pending.tool
    prepares = "prepare" in vars(tool) or type(tool).prepare is not AgentTool.prepare
    if tool.name in _FILE_TOOLS and not prepares:
        path = pending.call.arguments.get("path", ".")
        return (path,) if isinstance(path, str) else ()
    return pending.proposal.targets


def _names(target: str, folder: str) -> list[str]:
    """Every absolute name of a target: as it is written, and with its links resolved."""
    written = os.path.normpath(os.path.join(folder, target))
    try:
        real = os.path.realpath(os.path.join(folder, target))
    except (OSError, ValueError):
        return [written]
    return [written] if real == written else [written, real]


def _within(path: str, folder: str) -> str:
    """`path` as seen from the folder, or unchanged if it lies outside."""
    if path == folder:
        return "."
    top = folder if folder.endswith("/") else folder + "/"
    return path[len(top) :] if path.startswith(top) else path


def _identity(pending: Pending) -> str:
    """Equal for calls that are the same to a person, however the model spaces or wraps them."""
    if pending.call.name == COMMAND_TOOL:
        return command_key(" ".join(pending.proposal.targets))
    return json.dumps([pending.call.name, pending.call.arguments], sort_keys=True, default=str)
