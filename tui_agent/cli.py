"""The command line: what was asked for, checked before anything starts.

    tui-agent [FOLDER]             the screen
    tui-agent --plain [FOLDER]     the same, line by line
    tui-agent -p PROMPT [FOLDER]   one turn without a person
    tui-agent doctor               what is set up and what is missing

Only the standard library is imported here, the rest where it is needed: the screen must come up at once.
Problems found here are one message with the next step, and exit code 2.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui_agent.options import Usage, check_sandbox, read_folder, read_options, read_prompt, read_settings

if TYPE_CHECKING:
    from tui_agent.settings import Settings

SWITCH = 0.0005
"""Seconds after which a thread that works (imports, reads, colours) gives way to keys and the screen."""


class Crash(Exception):
    """A fault of ours, as the one line that is printed about it."""


def main(argv: Sequence[str] | None = None) -> int:
    gc.disable()  # what start-up makes stays; `Runtime.warm` switches collection on again
    try:
        return _main(list(sys.argv[1:] if argv is None else argv))
    except Usage as error:
        return _stop(f"tui-agent: {error}", 2)
    except Crash as error:
        return _stop(str(error), 1)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # before there were settings, and with them a key
        from tui_agent import crash

        return _stop(crash.report(error), 1)


def _main(argv: list[str]) -> int:
    if sys.platform == "win32":
        raise Usage("Windows is not supported: the program relies on Unix processes. Use it inside WSL.")
    _protect()
    if argv[:1] == ["doctor"]:
        from tui_agent.doctor import main as doctor

        return doctor(argv[1:])
    options = read_options(argv)
    folder = read_folder(options.folder)
    if options.resume == "" and (options.plain or options.prompt is not None or not _at_a_terminal()):
        return _list_sessions(folder)
    if options.plain and options.prompt is not None:
        raise Usage("--plain is a conversation and -p is one turn: leave one of them out.")
    prompt = None if options.prompt is None else read_prompt(options.prompt)
    settings = read_settings(options, folder)
    with _crashes_reported(settings), _place(settings) as settings:
        check_sandbox(settings)
        if prompt is not None:
            from tui_agent import headless

            return headless.run(settings, prompt, options.output_format)
        if options.plain:
            from tui_agent import plain

            return plain.run(settings)
        return _show(settings)


def _stop(why: str, code: int) -> int:
    from tui_agent.text import visible

    print(visible(why), file=sys.stderr)
    return code


def _protect() -> None:
    """Before any child or any secret: our memory is ours, and what our commands leave behind comes to us."""
    from tui_agent.tools.orphans import adopt_orphans, hide_memory

    hide_memory()
    adopt_orphans()


def _at_a_terminal() -> bool:
    """Somebody is there to choose."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _list_sessions(folder: Path) -> int:
    from tui_agent.session.index import sessions
    from tui_agent.text import one_line

    found = sessions(folder)
    if not found:
        print(f"There is no session in {one_line(str(folder))} yet.")
        return 0
    import time

    for summary in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(summary.changed))
        print(f"{summary.id}  {when}  {one_line(summary.title, 60)}")
    print("\nContinue one with: tui-agent --resume=ID")
    return 0


@contextmanager
def _place(settings: Settings) -> Iterator[Settings]:
    """The settings with the folder to work in: the demo's is a copy of a sample project, gone at the end."""
    if not settings.demo:
        yield settings
        return
    from tui_agent.demo import project

    with project() as folder:
        yield replace(settings, folder=folder)


@contextmanager
def _crashes_reported(settings: Settings) -> Iterator[None]:
    from tui_agent import crash

    redact = settings.credentials.redact
    crash.watch_threads(redact)
    try:
        yield
    except (Usage, KeyboardInterrupt):
        raise
    except Exception as error:
        raise Crash(crash.report(error, redact)) from None


def _show(settings: Settings) -> int:
    """The screen. Whatever happens in it, the terminal comes back and no command stays."""
    from tui_agent import terminal
    from tui_agent.ui import themes

    if problem := themes.problem(settings.theme) or terminal.problem():
        raise Usage(problem)
    from tui_agent.ui.app import TuiApp

    sys.setswitchinterval(SWITCH)
    app = TuiApp(settings)
    try:
        with terminal.kept():
            app.run(mouse=settings.mouse)
    finally:
        if process := sys.modules.get("tui_agent.tools.process"):
            process.kill_all()
    return app.return_code or 0
