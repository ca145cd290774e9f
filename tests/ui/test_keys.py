"""The tables of keys: they are whole, and a ladder ends at the first rung that does something."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import get_args

import pytest

from tui_agent.ui import keys
from tui_agent.ui.panes.changes import Changes
from tui_agent.ui.panes.tool_log import CallList
from tui_agent.ui.screens.help import help_text
from tui_agent.ui.widgets.prompt import Prompt


@dataclass
class Person:
    """A climber that has something to do at some rungs."""

    able: set[str]
    done: list[str] = field(default_factory=list)

    def __getattr__(self, step: str):  # type: ignore[no-untyped-def]
        def attempt() -> bool:
            if step in self.able:
                self.done.append(step)
            return step in self.able

        return attempt


@pytest.mark.parametrize("ladder", keys.LADDERS)
def test_the_first_rung_that_applies_ends_the_climb(ladder: keys.Ladder) -> None:
    steps = [rung.step for rung in keys.LADDERS[ladder]]
    for place, step in enumerate(steps):
        person = Person(set(steps[place:]))
        assert keys.climb(ladder, person) == step
        assert person.done == [step]


def test_with_nothing_to_do_nothing_is_done() -> None:
    assert keys.climb("escape", Person(set())) is None


def test_a_run_is_cancelled_before_selections_and_drafts_are_touched() -> None:
    escape = [rung.step for rung in keys.ESCAPE]
    assert escape.index("cancel_run") < escape.index("drop_selection")
    ctrl_c = [rung.step for rung in keys.CTRL_C]
    assert ctrl_c.index("copy_selection") < ctrl_c.index("cancel_run") < ctrl_c.index("clear_draft")
    assert ctrl_c[-1] == "quit_if_again"


def test_every_key_shows_in_the_help() -> None:
    text = " ".join(help_text().plain.split())
    for key in keys.KEYS:
        assert key.label in text
        assert key.does in text
    for ladder in keys.LADDERS.values():
        for rung in ladder:
            assert rung.when in text


def test_no_binding_has_priority_over_dialogs() -> None:
    for place in get_args(keys.Place):
        assert not any(binding.priority for binding in keys.bindings(place))


def test_binding_ids_are_unique_so_that_a_keymap_can_name_them() -> None:
    ids = [binding.id for place in get_args(keys.Place) for binding in keys.bindings(place)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("place", "widget"), [("prompt", Prompt), ("tool log", CallList), ("changes", Changes)]
)
def test_every_action_exists(place: keys.Place, widget: type) -> None:
    for binding in keys.bindings(place):
        assert hasattr(widget, f"action_{binding.action}")
