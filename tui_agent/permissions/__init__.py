"""What may run: modes, rules, the analysis of commands, the questions to the person, trust, the sandbox.

Names are loaded on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui_agent.permissions.broker import Broker, Question
    from tui_agent.permissions.gate import PolicyGate
    from tui_agent.permissions.modes import Mode
    from tui_agent.permissions.offers import offer_rule
    from tui_agent.permissions.policy import Policy, Ruling
    from tui_agent.permissions.rules import Rule, RuleError, parse_rule
    from tui_agent.permissions.sandbox import Sandbox, SandboxError
    from tui_agent.permissions.shell import Decision, decide_command

__all__ = [
    "Broker",
    "Decision",
    "Mode",
    "Policy",
    "PolicyGate",
    "Question",
    "Rule",
    "RuleError",
    "Ruling",
    "Sandbox",
    "SandboxError",
    "decide_command",
    "offer_rule",
    "parse_rule",
]

_HOMES = {
    "Broker": "broker",
    "Decision": "shell",
    "Mode": "modes",
    "Policy": "policy",
    "PolicyGate": "gate",
    "Question": "broker",
    "Rule": "rules",
    "RuleError": "rules",
    "Ruling": "policy",
    "Sandbox": "sandbox",
    "SandboxError": "sandbox",
    "decide_command": "shell",
    "offer_rule": "offers",
    "parse_rule": "rules",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
