"""What this run was asked to be: command line over environment over the user's file over defaults.

The file is TOML in the user's configuration folder and is only ever read:

    mode = "ask"                            # plan, ask, accept-edits, auto
    model = "claude-opus-5-5"
    allow = ["run_command(pytest *)"]       # also: ask, deny
    max_steps = 30
    max_tokens_total = 500000               # of one prompt; no limit without it
    theme = "light"                         # dark, light, or any that /theme lists
    enter = "newline"                       # then Alt+Enter or Ctrl+S sends
    mouse = false

    [keys]                                  # /keys lists the names
    next_mode = "f7"

A project may have `.tui-agent/settings.toml`. It counts only after its folder is trusted, and it can only
make the rules stricter. Nothing here imports pydantic: the screen reads it before its first paint.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, cast

from tui_agent.credentials import Credentials
from tui_agent.paths import read_small, settings_file

Mode = Literal["plan", "ask", "accept-edits", "auto"]
MODES: tuple[Mode, ...] = ("plan", "ask", "accept-edits", "auto")  # from strict to free
EFFORTS = ("low", "medium", "high", "xhigh", "max")
DEFAULT_MODEL = "claude-opus-5-5"
ASK_WHICH = ""
"""For `Settings.resume`."""

NO_KEY = (
    "there is no key for the model. Set ANTHROPIC_API_KEY (or ANTHROPIC_BASE_URL, for a server of your own "
    "that wants none), or look around offline with: tui-agent --demo"
)

Verdict = Literal["allow", "ask", "deny"]
Origin = Literal["user", "command line", "project"]


class SettingsError(Exception):
    """Settings that can't be used: where, what is wrong, what to do."""

    def __init__(self, what: str, *, path: Path | None = None, line: int | None = None) -> None:
        where = "" if path is None else f"{path}{f', line {line}' if line else ''}: "
        super().__init__(where + what)
        self.path, self.line, self.what = path, line, what


@dataclass(frozen=True)
class RuleText:
    """A permission rule as it was written, and where. `permissions` gives it its meaning."""

    verdict: Verdict
    text: str
    origin: Origin


@dataclass(frozen=True)
class Settings:
    """`resume` is None for a new session, "last", the id of one, or ASK_WHICH to have the person choose.

    `max_tokens_total` bounds what one prompt may use. `thinking` is None where the model decides. With
    `model_named` the model counts also in a session that had another one.
    """

    folder: Path
    mode: Mode = "ask"
    rules: tuple[RuleText, ...] = ()
    model: str = DEFAULT_MODEL
    model_named: bool = False
    effort: str | None = None
    thinking: bool | None = None
    max_steps: int = 30
    max_tokens_total: int | None = None
    resume: str | None = None
    sandbox: bool = False
    sandbox_net: bool = False
    theme: str | None = None
    enter: Literal["send", "newline"] = "send"
    mouse: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)
    demo: bool = False
    base_url: str | None = None
    api_version: str | None = None
    env_pass: tuple[str, ...] = ()
    credentials: Credentials = field(default_factory=Credentials)

    @property
    def can_ask_a_model(self) -> bool:
        """A server at a base URL of one's own may want no key."""
        return self.demo or bool(self.credentials) or self.base_url is not None

    def tightened(self, project: Mapping[str, Any]) -> Settings:
        """With what a trusted project asks for, where that is stricter."""
        mode = project.get("mode", self.mode)
        return replace(
            self,
            mode=min(self.mode, mode, key=MODES.index),
            max_steps=min(self.max_steps, project.get("max_steps", self.max_steps)),
            max_tokens_total=_least(self.max_tokens_total, project.get("max_tokens_total")),
            rules=self.rules + project.get("rules", ()),
        )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def load(folder: Path, *, rules: tuple[RuleText, ...] = (), **options: Any) -> Settings:
    """All sources, merged. `options` are those of the command line; None means not given."""
    given = {name: value for name, value in options.items() if value is not None}
    values = _read(settings_file())
    if url := os.environ.get("ANTHROPIC_BASE_URL", "").strip():
        values["base_url"] = url
    values |= given
    values["rules"] = values.get("rules", ()) + rules
    settings = Settings(folder=folder, credentials=Credentials.from_environment(), **values)
    _check_endpoint(settings)
    if settings.credentials.fault:
        raise SettingsError(settings.credentials.fault)
    return settings


def project_values(path: Path, text: str) -> dict[str, Any]:
    """What the settings file of a (trusted) project asks for."""
    return _parse(path, text, _PROJECT_FIELDS, "project")


def _read(path: Path) -> dict[str, Any]:
    try:
        text = read_small(path).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        at = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError("this line is not UTF-8. Save the file as UTF-8.", path=path, line=at) from None
    except OSError as error:
        what = f"can't be read ({error.strerror or error}). Correct it, or move it away."
        raise SettingsError(what, path=path) from None
    return _parse(path, text, _FIELDS, "user")


def _parse(
    path: Path, text: str, fields: Mapping[str, Callable[[Any], Any]], origin: Origin
) -> dict[str, Any]:
    """The checked values of one file."""
    try:
        table = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, text, str(error)) from None

    values: dict[str, Any] = {}
    rules: list[RuleText] = []
    for name, value in table.items():
        line = _line_of(text, name)
        if name not in fields:
            raise SettingsError(_unknown(name, fields), path=path, line=line)
        try:
            checked = fields[name](value)
        except ValueError as error:
            raise SettingsError(
                f"{name} must be {error}, not {_shown(value)}.", path=path, line=line
            ) from None
        if name in ("allow", "ask", "deny"):
            rules += [RuleText(cast(Verdict, name), rule, origin) for rule in checked]
        else:
            values[name] = checked
    if rules:
        values["rules"] = tuple(rules)
    return values


def _syntax_error(path: Path, text: str, message: str) -> SettingsError:
    found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)$", message)
    line = int(found[1]) if found and found[1] else text.rstrip().count("\n") + 1
    what = message[: found.start()] if found else message
    return SettingsError(
        f"this is not TOML: {what}. Strings need quotes, lists brackets.", path=path, line=line
    )


def _line_of(text: str, name: str) -> int | None:
    pattern = re.compile(rf"^\s*\[*\s*[\"']?{re.escape(name)}[\"']?\s*[=.\]]", re.MULTILINE)
    found = pattern.search(text)
    return text.count("\n", 0, found.end()) + 1 if found else None


def _unknown(name: str, fields: Mapping[str, Any]) -> str:
    if name in _FIELDS and name not in fields:
        known = ", ".join(fields)
        return f"a project can't set {name}: its settings may only make rules stricter ({known})."
    close = difflib.get_close_matches(name.replace("-", "_"), list(fields), 1)
    hint = f"Did you mean {close[0]}?" if close else f"Known are {', '.join(sorted(fields))}."
    return f"there is no setting {_shown(name)}. {hint}"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return str(value)

    return check


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("text in quotes")
    return value


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError('a list of texts, as ["…", "…"]')
    return tuple(value)


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _keys(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(keys, str) and keys for keys in value.values()):
        raise ValueError('a table of texts, as next_mode = "f7" below [keys]')
    return dict(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number from 1")
    return value


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "mode": _one_of(*MODES),
    "allow": _texts,
    "ask": _texts,
    "deny": _texts,
    "model": _text,
    "effort": _one_of(*EFFORTS),
    "thinking": _switch,
    "max_steps": _count,
    "max_tokens_total": _count,
    "sandbox": _switch,
    "sandbox_net": _switch,
    "theme": _text,
    "enter": _one_of("send", "newline"),
    "mouse": _switch,
    "keys": _keys,
    "base_url": _text,
    "api_version": _text,
    "env_pass": _texts,
}
_PROJECT_FIELDS = {name: _FIELDS[name] for name in ("mode", "ask", "deny", "max_steps", "max_tokens_total")}


def _check_endpoint(settings: Settings) -> None:
    if settings.base_url is None:
        return
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    try:
        url = urlsplit(settings.base_url)
        host, _ = url.hostname, url.port
    except ValueError as error:
        raise SettingsError(f"the base URL {_shown(settings.base_url)} is not a URL ({error}).") from None
    if url.scheme not in ("http", "https") or not host:
        raise SettingsError(
            f"the base URL must be as https://HOST or http://127.0.0.1:PORT, not {_shown(settings.base_url)}."
        )
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost" or host.endswith(".localhost")
    if url.scheme == "http" and settings.credentials and not local:
        raise SettingsError(
            f"the key would travel unencrypted to {host}. Use https, or unset the key if it wants none."
        )
