"""The demo from its first key to its last line, and the screen while it changes size under the hands."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from terminal.harness import Terminal

READY = r"Ask for a change"
Start = Callable[..., Terminal]


def answered(term: Terminal, question: str, key: str) -> None:
    term.wait_for(rf"{question}[\s\S]*Approve")
    time.sleep(0.7)
    term.send(key)
    term.wait_gone("Approve")


def test_the_demo_runs_to_its_end(terminal: Start) -> None:
    term = terminal("--demo")
    term.wait_for("demo: scripted model, offline")
    term.wait_for("› Find where the order total")
    term.send("\r")
    answered(term, r"test_an_empty_cart_costs_nothing", "y")
    answered(term, r"python3 -m unittest", "y")
    answered(term, r"shop/order\.py", "y")
    answered(term, r"python3 -m unittest", "y")
    term.wait_for(READY)
    term.wait_until(lambda: "waiting" not in term.screen() and "step 7" in term.screen(), "the end")
    shown = term.screen()
    assert re.search(r"order\.py", shown)
    assert re.search(r"test_order\.py", shown)
    assert term.quit() == 0
    assert term.left_on() == set()
    assert set(term.smuggled()) <= {"\x07"}
    assert term.leftovers() == {}


@pytest.mark.heavy
def test_a_question_survives_every_size(terminal: Start) -> None:
    term = terminal("--demo", size=(80, 24))
    term.wait_for("› Find where")
    term.send("\r")
    term.wait_for("Approve")
    for columns, rows in [(40, 12), (1, 1), (200, 50), (120, 40)]:
        term.resize(columns, rows)
        term.quiet(0.3)
        assert term.alive()
    term.wait_for("Approve")
    assert "test_an_empty_cart_costs_nothing" in term.screen()
    time.sleep(0.7)
    term.send("\x1b")
    term.wait_for("stopped")
    term.wait_for(READY)
    for columns, rows in [(59, 14), (10, 3), (80, 24)]:
        term.resize(columns, rows)
        term.quiet(0.3)
    term.wait_for(READY)
    assert term.quit() == 0
    assert term.left_on() == set()
