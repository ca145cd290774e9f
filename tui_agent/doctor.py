"""`tui-agent doctor`: what is set up, what is missing, and what to do about it.

Each check is a function of the settings that returns a finding. The exit code is 1 if something stands in
the way of working, 0 otherwise: what is only worth knowing does not count.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from tui_agent import __version__, paths, terminal
from tui_agent.settings import NO_KEY, Settings, SettingsError, load
from tui_agent.text import visible

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 30.0
DEFAULT_ENDPOINT = "https://api.anthropic.com"

State = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    state: State
    name: str
    text: str


def main(arguments: Sequence[str]) -> int:
    if strange := [argument for argument in arguments if argument != "--online"]:
        words = f"doctor takes only --online (make one small request), not {visible(strange[0])}"
        print(f"tui-agent: {words}.", file=sys.stderr)
        return 2
    findings = examine(online="--online" in arguments)
    for finding in findings:
        print(f"{finding.state:8}{finding.name:11}{visible(finding.text)}")
    problems = sum(finding.state == "problem" for finding in findings)
    print(f"\n{problems} to solve." if problems else "\nReady to work.")
    return 1 if problems else 0


def examine(*, online: bool = False) -> list[Finding]:
    versions = f"tui-agent {__version__}, Python {platform.python_version()}, {platform.platform()}"
    findings = [Finding("ok", "version", versions)]
    try:
        settings = load(Path.cwd())
    except (SettingsError, OSError) as error:
        return [*findings, Finding("problem", "settings", str(error)), *_own_folders(), *_tools()]
    file = paths.settings_file()
    findings.append(Finding("ok", "settings", str(file) if file.exists() else f"none ({file}): the defaults"))
    return [
        *findings,
        _key(settings),
        _endpoint(settings),
        *([_answer(settings)] if online else []),
        _terminal(),
        *_tools(),
        _parser(),
        _sandbox(),
        *_own_folders(),
    ]


def _key(settings: Settings) -> Finding:
    if settings.credentials:
        which = "ANTHROPIC_API_KEY" if settings.credentials.api_key else "ANTHROPIC_AUTH_TOKEN"
        return Finding("ok", "key", f"{which} is set")
    if settings.can_ask_a_model:
        return Finding("note", "key", "none; the server at the base URL is asked without one")
    return Finding("problem", "key", NO_KEY)


def _endpoint(settings: Settings) -> Finding:
    """Whether the server takes connections. Nothing is sent, so the key is not tried."""
    base = settings.base_url or DEFAULT_ENDPOINT
    url = urlsplit(base)
    host, port = url.hostname or "", url.port or (443 if url.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        why = error.strerror or error
        advice = "Check the network, a proxy or firewall, and ANTHROPIC_BASE_URL."
        return Finding("problem", "endpoint", f"{base} can't be reached ({why}). {advice}")
    return Finding("ok", "endpoint", f"{base} takes connections; model {settings.model}")


def _answer(settings: Settings) -> Finding:
    """One small request, with the key: whether the model answers."""
    import asyncio

    from tui_agent.agent import ModelError

    if not settings.can_ask_a_model:
        return Finding("note", "request", "not made: there is no key")
    try:
        asyncio.run(asyncio.wait_for(_ask(settings), ANSWER_SECONDS))
    except ModelError as error:
        return Finding("problem", "request", settings.credentials.redact(f"{error.message} {error.hint}"))
    except TimeoutError:
        what = f"no answer within {ANSWER_SECONDS:.0f} s. Try again, or look at the server's status page."
        return Finding("problem", "request", what)
    return Finding("ok", "request", f"{settings.model} answers")


async def _ask(settings: Settings) -> None:
    from tui_agent.agent import ModelRequest, TextContent, UserMessage
    from tui_agent.parts import server_for

    model = server_for(settings)
    hello = UserMessage(content=(TextContent(text="Say hello."),))
    try:
        async for _ in model.stream(ModelRequest(system="", tools=(), messages=(hello,), max_tokens=16)):
            pass
    finally:
        await model.close()


def _terminal() -> Finding:
    if problem := terminal.problem():
        return Finding("note", "terminal", problem)
    size, colours = os.get_terminal_size(), os.environ.get("COLORTERM") or "256 colours or fewer"
    text = f"TERM={os.environ.get('TERM', '')}, {size.columns}×{size.lines}, {colours}"
    if "UTF-8" not in (sys.stdout.encoding or "").upper():
        return Finding("note", "terminal", f"{text}; not UTF-8: set LANG to a UTF-8 locale to see every sign")
    return Finding("ok", "terminal", text)


def _tools() -> list[Finding]:
    bash, rg = shutil.which("bash"), shutil.which("rg")
    return [
        Finding("ok", "bash", bash) if bash else Finding("problem", "bash", "not found: commands can't run"),
        Finding("ok", "rg", rg)
        if rg
        else Finding("note", "rg", "not found: searching is slower without ripgrep"),
    ]


def _parser() -> Finding:
    from tui_agent.permissions.grammar import MISSING, language

    if language() is None:
        return Finding("problem", "parser", f"{MISSING}: until then every command asks")
    return Finding("ok", "parser", "commands can be analysed")


def _sandbox() -> Finding:
    from tui_agent.permissions.sandbox import Sandbox, SandboxError

    try:
        Sandbox(Path.cwd()).check()
    except SandboxError as error:
        return Finding("note", "sandbox", f"--sandbox is not available: {error}; {error.hint}")
    return Finding("ok", "sandbox", "bwrap works: --sandbox is available")


def _own_folders() -> list[Finding]:
    return [
        _own_folder("config", paths.config_folder, ours=False),
        _own_folder("state", paths.state_folder),
        _own_folder("sessions", paths.sessions_folder),
        _own_folder("log", paths.log_folder),
    ]


def _own_folder(name: str, place: Callable[[], Path], *, ours: bool = True) -> Finding:
    """`ours`: one that we make and write to; the other is the person's, and only read."""
    folder = place()
    try:
        if not ours:
            there = stat.S_IMODE(folder.stat().st_mode) if folder.exists() else None
            return Finding("ok", name, f"{folder} (not there)" if there is None else _moded(folder, there))
        mode = stat.S_IMODE(paths.private_folder(folder).stat().st_mode)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "it can't be written to")
    except OSError as error:
        advice = "Give yourself the rights, or set XDG_STATE_HOME."
        return Finding("problem", name, f"{folder}: {error.strerror or error}. {advice}")
    text = _moded(folder, mode)
    return Finding("ok", name, f"{text}, {paths.log_file().name} in it" if name == "log" else text)


def _moded(folder: Path, mode: int) -> str:
    return f"{folder} (mode {mode:04o})"
