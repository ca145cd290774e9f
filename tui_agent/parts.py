"""The parts of a runtime, each made from the settings; what can't be made is said in words for the person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tui_agent import paths
from tui_agent.agent import FileChanged, Model, Tool
from tui_agent.agent.history import History
from tui_agent.permissions.policy import Policy
from tui_agent.permissions.rules import RuleError, parse_rule
from tui_agent.permissions.sandbox import Sandbox, SandboxError, sandbox_of
from tui_agent.session.choice import changed, choice_of, given, last_choice
from tui_agent.session.index import find, last
from tui_agent.session.recovery import closing_events
from tui_agent.session.store import InUse, SessionError, SessionStore
from tui_agent.settings import Settings, SettingsError
from tui_agent.undo.recovery import lost_changes

if TYPE_CHECKING:
    from tui_agent.models.anthropic import AnthropicModel


def policy_for(settings: Settings) -> Policy:
    try:
        rules = [parse_rule(rule.verdict, rule.text, rule.origin) for rule in settings.rules]
    except RuleError as error:
        raise SettingsError(str(error)) from None
    return Policy(
        settings.mode,
        rules,
        settings.folder,
        state_folder=paths.state_folder(),
        sandboxed=settings.sandbox,
    )


def idle_rules(policy: Policy, tools: Iterable[Tool]) -> Iterator[str]:
    """What to say about rules that no tool will ever meet: a slip in a name must not look like a rule."""
    names = [tool.name for tool in tools]
    for rule in policy.rules:
        if not any(map(rule.covers, names)):
            yield f"the {rule.verdict} rule {rule.text} does nothing: the tools are {', '.join(names)}"


def sandbox_for(settings: Settings) -> Sandbox:
    sandbox = sandbox_of(settings)
    try:
        sandbox.check()
    except SandboxError as error:
        raise SettingsError(f"{error}; {error.hint}") from None
    return sandbox


def session_for(settings: Settings) -> SessionStore:
    """A new session, or the one that was asked for: repaired, ended, or a copy if it is open elsewhere."""
    redact = settings.credentials.redact
    if settings.resume is None:
        return SessionStore.create(settings.folder, redact=redact)
    if settings.resume == "last":
        summary, missing = last(settings.folder), "there is no earlier session in this folder"
    else:
        summary, missing = find(settings.resume, settings.folder), f"there is no session {settings.resume!r}"
    if summary is None:
        raise SessionError(f"{missing}. List them with: tui-agent --resume")
    elsewhere = summary.folder and Path(summary.folder) != settings.folder.resolve()
    if elsewhere and Path(summary.folder).is_dir():  # a folder that was moved takes its sessions along
        raise SessionError(
            f"the session {summary.id} belongs to another folder. "
            f"Continue it with: tui-agent {summary.folder} --resume={summary.id}"
        )
    try:
        session = SessionStore.open(summary.place, redact=redact)
    except InUse:
        session = SessionStore.fork(summary.place, settings.folder, redact=redact)
    for event in (*closing_events(session.events), *_lost_changes(session, settings.folder)):
        session.append(event)
        session.events.append(event)
    return session


def going_on(settings: Settings, session: SessionStore) -> Settings:
    """The settings with the model that the session was given last, unless the command line names another."""
    if settings.demo:
        return settings
    wanted = choice_of(settings)
    had = last_choice(session.events, wanted)
    if settings.model_named and had.model != wanted.model:
        for event in changed(had, wanted, History.replay(session.events).messages):
            session.append(event)
            session.events.append(event)
        return settings
    if had != wanted:
        session.notify(f"This session goes on with {had.words}; your settings name {wanted.words}.")
    return given(settings, had)


def _lost_changes(session: SessionStore, folder: Path) -> list[FileChanged]:
    try:
        return lost_changes(session.events, folder, session.place)
    except OSError:  # the folder can't be opened: its tools will say so
        return []


def model_for(settings: Settings) -> Model:
    if settings.demo:
        from tui_agent.models.scripted import ScriptedModel

        return ScriptedModel()
    from tui_agent.models.retry import RetryingModel

    return RetryingModel(server_for(settings))


def server_for(settings: Settings) -> AnthropicModel:
    """The model at its server, which fails as soon as the server does."""
    from tui_agent.models.anthropic import AnthropicModel

    keys = settings.credentials
    # A server of one's own may want no key, but the SDK insists on something to send.
    api_key = keys.api_key or (None if keys.auth_token else "none")
    return AnthropicModel(
        settings.model,
        api_key=api_key,
        auth_token=keys.auth_token,
        base_url=settings.base_url,
        version_header=settings.api_version,
        effort=settings.effort,
        thinking=settings.thinking,
    )
