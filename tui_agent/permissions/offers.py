"""What a question says beside the call: above all the rule on offer.

The rule is what "allow from now on" would save. It never covers more kinds of things than were seen: an exact
command, or a subcommand of a known program; nothing for interpreters and wrappers, whose arguments are
programs themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from tui_agent.agent.tool import Pending
from tui_agent.permissions.broker import Question
from tui_agent.permissions.places import is_protected, is_secret
from tui_agent.permissions.rules import COMMAND_TOOL, Rule, RuleError, quote_path, quote_word
from tui_agent.permissions.syntax import parse
from tui_agent.permissions.touches import parts, touched
from tui_agent.permissions.wrappers import NAMES as WRAPPERS
from tui_agent.permissions.wrappers import base

_RUN_ANYTHING = re.compile(
    r"python[\d.]*|pypy[\d.]*|node|deno|bun|ruby|irb|perl|php|lua|luajit|[gmn]?awk|tclsh|expect|osascript|pwsh|R"
    r"|Rscript|julia|ghci|scala|java|groovy|elixir|erl|guile|sed|ed|ex|vi|vim|nvim|emacs|npx|pnpx|bunx|uvx|pipx|ssh"
    r"|docker|podman|kubectl|source|\.|nc|socat|gdb|lldb|crontab|at|batch|screen|tmux|sqlite3|psql|mysql|nix-shell"
    r"|conda|ansible.*|sudoedit|printf|cd|set|alias|hash|enable|export|declare|read"
)
_SUBCOMMANDS = {
    "git": "add commit status diff log show fetch pull stash checkout switch restore branch tag merge mv",
    "npm": "test install ci ls outdated audit",
    "pnpm": "test install list outdated",
    "yarn": "test install list",
    "cargo": "build check test fmt clippy doc tree",
    "go": "build test vet fmt list mod",
    "pip": "list show freeze check",
    "uv": "sync lock tree pip",
    "gradle": "build test",
    "mvn": "test compile package",
    "dotnet": "build test restore",
}


def offer_rule(pending: Pending, folder: str | None = None, rules: Sequence[Rule] = ()) -> str | None:
    """The text of the rule that "allow from now on" would save for this call, or None."""
    proposal = pending.proposal
    if pending.tool.name == COMMAND_TOOL:
        return _offer_command(" ".join(proposal.targets), rules)
    if pending.tool.name in ("edit_file", "write_file") and len(proposal.targets) == 1:
        path = proposal.targets[0]
        real = os.path.realpath(os.path.join(folder or ".", path))
        known = not any(is_protected(name) or is_secret(name) for name in (path, real))
        return f"write_file({quote_path(path)})" if known else None
    return None


def _offer_command(command: str, rules: Sequence[Rule]) -> str | None:
    script = parse(command)
    if script.guards or any(simple.unsafe for simple in script.plain):
        return None
    allow = [rule for rule in rules if rule.verdict == "allow" and rule.covers(COMMAND_TOOL)]
    open_ones = [
        simple
        for simple in script.plain
        if not any(rule.matches_words([word.value for word in simple.words]) for rule in allow)
    ]
    if len(open_ones) != 1 or not open_ones[0].literal:
        return None
    words = [word.value or "" for word in open_ones[0].words]
    name = base(words[0])
    if name in WRAPPERS - {"git"} or _RUN_ANYTHING.fullmatch(name):
        return None
    if len(words) > 2 and words[1] in _SUBCOMMANDS.get(words[0], "").split():
        return f"{COMMAND_TOOL}({words[0]} {words[1]} *)"
    pattern = " ".join(map(quote_word, words))
    # A rule is one line of text, so what can't be shown in one isn't offered.
    return f"{COMMAND_TOOL}({pattern})" if "\n" not in pattern else None


def check_grant(rule: Rule) -> None:
    """Raise `RuleError` for a rule that no question may grant, whoever edited it so."""
    if rule.tool != COMMAND_TOOL:
        return
    at = len(rule.tool) + 1
    name = base(rule.first_word)
    if rule.pattern is None or not name:
        raise RuleError(rule.text, at, "it would allow programs that nobody saw; name one")
    if name in WRAPPERS - {"git"} or _RUN_ANYTHING.fullmatch(name):
        why = f"{name} runs whatever it is given, so no question grants it; your settings file can"
        raise RuleError(rule.text, at, why)


def question_for(
    pending: Pending, reasons: tuple[str, ...], folder: str, rules: Sequence[Rule] = ()
) -> Question:
    """Everything a person needs to answer."""
    offer = offer_rule(pending, folder, rules)
    if pending.tool.name != COMMAND_TOOL:
        return Question(pending, reasons, offer)
    command = " ".join(pending.proposal.targets)
    script = parse(command)
    return Question(pending, reasons, offer, parts(command, script), touched(command, script, folder))
