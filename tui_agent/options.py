"""What the command line says, and the checks that need no more than a look.

Whatever can't be done raises `Usage`, whose words tell the person what to do instead.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tui_agent import __version__

if TYPE_CHECKING:
    from tui_agent.settings import Settings

PROMPT_LIMIT = 4 << 20

_USAGE = """tui-agent [FOLDER] [options]
       tui-agent --plain [FOLDER] [options]
       tui-agent -p PROMPT [FOLDER] [options]
       tui-agent doctor [--online]"""


class Usage(Exception):
    """Something about the command line that can't be done; its words are for the person."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        unknown = message.rpartition("unrecognized arguments: ")[2].split(" ")[0].split("=")[0]
        if message.startswith("unrecognized") and unknown.startswith("-"):
            import difflib

            close = difflib.get_close_matches(unknown, self._option_string_actions, 1)
            message = f"there is no option {unknown}." + (f" Did you mean {close[0]}?" if close else "")
        raise Usage(f"{message} See: tui-agent --help")


def read_options(argv: list[str]) -> argparse.Namespace:
    from tui_agent.settings import MODES

    parser = _Parser(
        prog="tui-agent",
        allow_abbrev=False,
        usage=_USAGE,
        description="A full-screen coding agent for people who live on the keyboard.",
        epilog="Keys: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN; another server: ANTHROPIC_BASE_URL.",
    )
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help="where to work (default: here)")
    parser.add_argument(
        "-p", "--print", dest="prompt", metavar="PROMPT", help="one turn, no screen; - reads stdin"
    )
    parser.add_argument(
        "--output-format", choices=("text", "json", "stream-json"), default="text", help="what -p writes"
    )
    parser.add_argument("--demo", action="store_true", default=None, help="offline, on a sample project")
    parser.add_argument("--mode", choices=MODES, help="what runs without asking")
    for verdict, what in (("allow", "run without asking"), ("deny", "refuse")):
        parser.add_argument(
            f"--{verdict}", action="append", default=[], metavar="RULE", help=f"{what}: tool or tool(pattern)"
        )
    parser.add_argument("--model", metavar="NAME", help="which model answers")
    parser.add_argument("--max-steps", type=_positive, metavar="N", help="requests one prompt may take")
    parser.add_argument(
        "--max-tokens-total", type=_positive, metavar="N", help="tokens one prompt may use (no limit)"
    )
    parser.add_argument(
        "--continue", dest="resume", action="store_const", const="last", help="the last session here"
    )
    parser.add_argument("--resume", metavar="[=ID]", help="choose among the sessions, or continue one")
    parser.add_argument(
        "--sandbox", action="store_true", default=None, help="commands see no network, change only here"
    )
    parser.add_argument(
        "--sandbox-net", action="store_true", default=None, help="as --sandbox, but with the network"
    )
    parser.add_argument("--theme", metavar="NAME", help="colours: dark, light, or one of /theme")
    parser.add_argument(
        "--no-mouse", dest="mouse", action="store_false", default=None, help="leave the mouse to the terminal"
    )
    parser.add_argument(
        "--plain", action="store_true", help="line by line, without a full screen; for screen readers"
    )
    parser.add_argument("--version", action="version", version=f"tui-agent {__version__}")
    # Alone it lists; argparse would take the folder that follows for its value.
    return parser.parse_args(["--resume=" if argument == "--resume" else argument for argument in argv])


def _positive(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def read_folder(given: str | None) -> Path:
    try:
        folder = Path(os.path.realpath(given or os.getcwd()))
    except FileNotFoundError:
        raise Usage("the current folder has been deleted. Change to another one, or name one.") from None
    shown = given or str(folder)
    if given == "":
        raise Usage("the folder's name is empty.")
    if not folder.exists():
        raise Usage(f"the folder {shown} does not exist. Make it first (mkdir), or name another one.")
    if not folder.is_dir():
        raise Usage(f"{shown} is a file. Name the folder to work in: tui-agent {folder.parent}")
    if not os.access(folder, os.R_OK | os.X_OK):
        raise Usage(f"the folder {shown} can't be read: you lack the rights.")
    return folder


def read_settings(options: argparse.Namespace, folder: Path) -> Settings:
    from tui_agent.permissions.rules import RuleError, parse_rule
    from tui_agent.settings import RuleText, SettingsError, load

    try:
        settings = load(
            folder,
            rules=(
                *(RuleText("allow", rule, "command line") for rule in options.allow),
                *(RuleText("deny", rule, "command line") for rule in options.deny),
            ),
            mode=options.mode,
            model=options.model,
            model_named=options.model is not None,
            max_steps=options.max_steps,
            max_tokens_total=options.max_tokens_total,
            resume=options.resume,
            sandbox=options.sandbox or options.sandbox_net,
            sandbox_net=options.sandbox_net,
            theme=options.theme,
            mouse=options.mouse,
            demo=options.demo,
        )
        for rule in settings.rules:
            parse_rule(rule.verdict, rule.text, rule.origin)
    except (SettingsError, RuleError) as error:
        raise Usage(str(error)) from None
    return settings


def check_sandbox(settings: Settings) -> None:
    """That commands can be held as asked: known before the screen, and before any request."""
    if settings.sandbox:
        from tui_agent.permissions.sandbox import SandboxError, sandbox_of

        try:
            sandbox_of(settings).check()
        except SandboxError as error:
            raise Usage(f"{error}; {error.hint}") from None


def read_prompt(given: str) -> str:
    text = given
    if given == "-":
        text = sys.stdin.buffer.read(PROMPT_LIMIT + 1).decode("utf-8", "replace")
    if len(text) > PROMPT_LIMIT:
        raise Usage(
            f"the prompt is longer than {PROMPT_LIMIT:,} characters. Put it into a file in the folder."
        )
    if not text.strip():
        raise Usage("the prompt is empty. Write it after -p, or pipe it: tui-agent -p - < FILE")
    return text
