"""The environment that a command gets: the user's, without secrets, without what starts other programs,
and with every pager, editor and prompt answered in advance.

A variable that a command needs all the same is given back by its name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

QUIET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "EDITOR": "true",
    "VISUAL": "true",
    "GIT_EDITOR": "true",
    "GIT_SEQUENCE_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "SSH_ASKPASS_REQUIRE": "never",
    "DEBIAN_FRONTEND": "noninteractive",
}

_SECRET_NAME = re.compile(
    r"(^|_)(api_?keys?|secrets?|tokens?|credentials?|cred|private_?key|access_?key(_id)?|secret_?key"
    r"|encryption_?key|signing_?key|master_?key|auth|authorization|dsn|cookies?|webhook(_url)?|pat|jwt|otp|pin"
    r"|bearer|session_?key|custom_headers|connection_string|pass)(_|$)"
    r"|passw|passphrase|pwd$|apikey|secret$|token$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"://[^/\s:@]*:[^/\s@]+@"  # a URL with a password
    r"|^(sk-|sk_live_|rk_live_|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|AIza|npm_|hf_|pypi-|dop_v1_)"
    r"[\w-]{8}"
    r"|^eyJ[\w-]+\.eyJ[\w-]+\."  # a JWT
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r"|^(Bearer|Basic) \S{8}",
)
_STARTS_PROGRAMS = re.compile(
    r"(LD|DYLD)_.*|BASH_ENV|ENV|BASH_FUNC_.*|BASHOPTS|SHELLOPTS|PROMPT_COMMAND|PS4|CDPATH|GLOBIGNORE"
    r"|PYTHONSTARTUP|PYTHONINSPECT|PYTHONBREAKPOINT|NODE_OPTIONS|PERL5OPT|PERL5DB|RUBYOPT|JAVA_TOOL_OPTIONS"
    r"|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|LESSOPEN|LESSCLOSE|SSH_ASKPASS|SUDO_ASKPASS|BROWSER"
    r"|GIT_(SSH|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND|CONFIG.*|EXEC_PATH|TEMPLATE_DIR"
    r"|DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE)"
)
_OF_THE_SCREEN = re.compile(
    r"COLORTERM|FORCE_COLOR|CLICOLOR_FORCE|COLUMNS|LINES|TERMCAP|TERM_PROGRAM|WINDOWID|OLDPWD|GPG_TTY|SSH_TTY"
    r"|TMUX|TMUX_PANE|STY|WINDOW|ZELLIJ|KITTY_.*|WEZTERM_.*|ALACRITTY_.*"
)
"""Ways back to the person's terminal: a passphrase prompt there would paint over us and take their keys."""


def child_env(environ: Mapping[str, str], folder: str, allow: Collection[str] = ()) -> dict[str, str]:
    """What a command in `folder` gets of `environ`. Names in `allow` are passed on as they are."""
    passed = {name: value for name, value in environ.items() if not _withheld(name, value)}
    given_back = {name: environ[name] for name in allow if name in environ}
    return passed | QUIET | given_back | {"PWD": folder}


def _withheld(name: str, value: str) -> bool:
    return (
        _OF_THE_SCREEN.fullmatch(name) is not None
        or _STARTS_PROGRAMS.fullmatch(name) is not None
        or _SECRET_NAME.search(name) is not None
        or _SECRET_VALUE.search(value) is not None
    )
