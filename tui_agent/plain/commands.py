"""The commands: one tuple that feeds what is typed and `/help`.

Each runs in the place of a turn: Ctrl+C stops what it waits for. What it asks is answered by a typed word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui_agent.plain import model_commands, session_commands, undoing
from tui_agent.settings import MODES
from tui_agent.slash import Command
from tui_agent.text import one_line, plural

if TYPE_CHECKING:
    from tui_agent.permissions.rules import Rule
    from tui_agent.plain.conversation import Conversation

_HEAD = """\
Write what to do and press Enter; a line that ends with \\ goes on in the next one.
Ctrl+C stops a run, Ctrl+D quits. A question is answered with yes, no, or no and a reason."""
_DECISIONS = 20
"""How many of the latest decisions are told."""


async def _help(here: Conversation, _: str) -> None:
    helps = [f"{command.call}: {command.help}" for command in COMMANDS]
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


COMMANDS: tuple[Command[Conversation], ...] = (
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
