"""What a question says, in full, and what a typed line answers. Pure.

Everything that would run or be written is drawn by the strict sanitiser, line by line: what is read here is
what happens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from tui_agent.text import invisibles, plural, visible
from tui_agent.tools.changes import unified_lines
from tui_agent.tools.details import Command, FileChange
from tui_agent.tools.hunks import Diff

if TYPE_CHECKING:
    from tui_agent.permissions.broker import Question


def described(question: Question) -> str:
    """The whole of what is asked."""
    return "\n".join(_lines(question))


def choices(question: Question) -> str:
    always = " / always" if grantable(question) else ""
    return f"Approve? yes / no / no, REASON{always}:"


def grantable(question: Question) -> str:
    """The rule that "always" would allow, empty if there is none that can be shown as it is."""
    offer = question.offer or ""
    return offer if visible(offer, strict=True) == offer else ""


class Said(NamedTuple):
    """`word`: yes, no or always; empty when the line was neither."""

    word: str
    reason: str = ""


def understood(line: str) -> Said:
    """A yes is that word alone. A no may be followed by its reason."""
    text = line.strip()
    word, _, rest = text.replace(",", " ", 1).partition(" ")
    match word.lower():
        case "yes" | "y" | "always" if not rest.strip():
            return Said("always" if word.lower() == "always" else "yes")
        case "no" | "n":
            return Said("no", rest.strip())
    return Said("")


def _lines(question: Question) -> Iterator[str]:
    proposal = question.pending.proposal
    details = proposal.details
    if isinstance(details, FileChange):
        yield from _change(details)
    elif isinstance(details, Command):
        yield from _command(details)
    else:
        yield from _call(question)
    for heading, parts in (("runs", question.commands), ("touches", question.touches)):
        if parts:
            yield f"{heading}:"
            yield from (f"  {_strict(part)}" for part in parts)
    if question.reasons:
        yield f"Why it asks: {_strict('; '.join(question.reasons))}"
    if offer := grantable(question):
        yield f"Always would allow in this session: {offer}"


def _change(change: FileChange) -> Iterator[str]:
    facts = ", ".join(change.facts)
    yield f"Change {_strict(change.path)} ({_strict(facts)}), +{change.added} -{change.removed}:"
    diff = Diff(change.before, change.after)
    if diff.binary:
        yield _strict(change.diff.rstrip("\n"))
    else:
        yield from (_strict(line) for line in unified_lines(change.path, diff))


def _command(command: Command) -> Iterator[str]:
    yield "Run this command:"
    yield from (f"  {line}" for line in _strict(command.command).split("\n"))
    if hidden := invisibles(command.command):
        yield f"It contains {plural(hidden, 'invisible character')}, drawn above."
    background = ", in the background" if command.background else ""
    yield f"in {_strict(command.folder)}, for at most {command.timeout:g} s{background}"
    yield f"sandbox: {command.sandbox or 'none, it can do whatever you can'}"


def _call(question: Question) -> Iterator[str]:
    pending = question.pending
    yield f"Allow {_strict(pending.tool.name)}: {_strict(pending.proposal.title)}"
    yield from (f"  {_strict(target)}" for target in pending.proposal.targets)
    for name, value in pending.call.arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"  {_strict(name)}: {_strict(text)}"


def _strict(text: str) -> str:
    return visible(text, strict=True)
