"""What is typed as a command: `/name argument`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

H = TypeVar("H")
"""What the commands work on."""


@dataclass(frozen=True)
class Command(Generic[H]):
    """`argument` is how the help names it, in brackets when it may be left out."""

    name: str
    help: str
    action: Callable[[H, str], Awaitable[None]]
    argument: str = ""

    @property
    def call(self) -> str:
        """`/name [argument]`, as the help has it."""
        return f"/{self.name} {self.argument}".rstrip()


class Called(NamedTuple, Generic[H]):
    """What was typed as a command; `command` is None if there is none of that name."""

    name: str
    argument: str
    command: Command[H] | None


def find(text: str, commands: Sequence[Command[H]]) -> Called[H] | None:
    """The command that `text` calls. None if it is a prompt: `/etc/hosts says …`."""
    word, _, argument = text.strip().partition(" ")
    name = word[1:]
    if not word.startswith("/") or "\n" in text.strip() or not name.replace("-", "").isalpha():
        return None
    return Called(name, argument.strip(), next((one for one in commands if one.name == name), None))
