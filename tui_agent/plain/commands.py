"""The commands: one tuple that feeds what is typed and `/help`.

Each runs in the place of a turn: Ctrl+C stops what it waits for. What it asks is answered by a typed word.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tui_agent.plain import model_commands, session_commands, undoing
from tui_agent.settings import MODES
from tui_agent.text import one_line, plural

if TYPE_CHECKING:
    from tui_agent.permissions.rules import Rule
    from tui_agent.plain.conversation import Conversation

Action = Callable[["Conversation", str], Awaitable[None]]

_HEAD = """\
Write what to do and press Enter; a line that ends with \\ goes on in the next one.
Ctrl+C stops a run, Ctrl+D quits. A question is answered with yes, no, or no and a reason."""
_DECISIONS = 20
"""How many of the latest decisions are told."""


@dataclass(frozen=True)
class Command:
    """`argument` is how the help names it, in brackets when it may be left out."""

    name: str
    help: str
    action: Action
    argument: str = ""


class Called(NamedTuple):
    """What was typed as a command; `command` is None if there is none of that name."""

    name: str
    argument: str
    command: Command | None


def find(text: str) -> Called | None:
    """The command that `text` calls. None if it is a prompt: `/etc/hosts says …`."""
    word, _, argument = text.partition(" ")
    if not word.startswith("/") or "\n" in text or not word[1:].isalpha():
        return None
    command = next((command for command in COMMANDS if command.name == word[1:]), None)
    return Called(word, argument.strip(), command)


async def _help(here: Conversation, _: str) -> None:
    calls = [f"/{command.name} {command.argument}".rstrip() for command in COMMANDS]
    helps = [f"{call}: {command.help}" for call, command in zip(calls, COMMANDS, strict=True)]
    here.console.say("\n".join([_HEAD, *helps]))


async def _mode(here: Conversation, name: str) -> None:
    mode = next((mode for mode in MODES if mode == name), None)
    if mode is not None:
        here.set_mode(mode)
    elif name:
        here.console.say(f"There is no mode {one_line(name)}. Modes: {', '.join(MODES)}.")
        return
    here.console.say(f"The mode is {here.runtime.policy.mode}.")


async def _go_on(here: Conversation, _: str) -> None:
    await here.turn(None)


async def _permissions(here: Conversation, _: str) -> None:
    policy = here.runtime.policy
    lines = [f"The mode is {policy.mode}."]
    if policy.rules:
        lines += ["Rules:", *(f"  {_told(rule, policy.uses(rule))}" for rule in policy.rules)]
    else:
        lines.append("There are no rules: the mode decides.")
    if policy.log:
        lines.append("Decided, the latest first:")
    for decided in policy.log[: -_DECISIONS - 1 : -1]:
        word = "ran" if decided.decision == "allow" else "refused"
        lines.append(f"  {word} by {one_line(decided.who)}: {one_line(decided.title)}")
    here.console.say("\n".join(lines))


def _told(rule: Rule, uses: int) -> str:
    from tui_agent.permissions.rules import ORIGINS

    used = f"used {plural(uses, 'time')}" if uses else "not used"
    return f"{rule.verdict} {one_line(rule.text)}: {ORIGINS[rule.origin]}, {used}"


async def _quit(here: Conversation, _: str) -> None:
    here.leaving = True


COMMANDS: tuple[Command, ...] = (
    Command("help", "what can be typed", _help),
    Command("mode", "what runs without asking: plan, ask, accept-edits or auto", _mode, "[name]"),
    Command("permissions", "rules and grants, and who decided what", _permissions),
    Command("continue", "go on after a stop, a limit or an error", _go_on),
    Command(
        "undo",
        "take back the latest turn that changed files, or what is named; asks first",
        undoing.undo,
        "[what]",
    ),
    Command("diff", "print the changes of this session as a patch, and save it", undoing.diff),
    Command("resume", "go on with an earlier session, by its number or id", session_commands.resume, "[id]"),
    Command("clear", "begin a new session; the old one stays on disk", session_commands.clear),
    Command("rename", "give this session a name", session_commands.rename, "[name]"),
    Command("export", "save this session as Markdown or JSON", session_commands.export, "[md|json] [path]"),
    Command("context", "what fills the model's window", model_commands.context),
    Command("compact", "shorten the conversation to a summary", model_commands.compact, "[what to keep]"),
    Command("model", "which models there are, or another one", model_commands.model, "[name] [effort]"),
    Command("quit", "leave", _quit),
)
