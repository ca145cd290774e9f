"""When an answer counts, by the times of events alone."""

from __future__ import annotations

import pytest

from tui_agent.ui import arming as module
from tui_agent.ui.arming import Arming

QUIET = module.QUIET


@pytest.fixture(autouse=True)
def _as_it_is(_quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET", QUIET)


def test_an_answer_counts_half_a_second_after_the_question_was_painted() -> None:
    arming = Arming()
    assert not arming.counts(1e9)
    arming.painted(10.0)
    assert not arming.counts(9.0)
    assert not arming.counts(10.49)
    assert arming.counts(10.5)
    assert arming.remaining(10.2) == 10.5 - 10.2


def test_every_key_starts_the_quiet_again_and_an_old_one_changes_nothing() -> None:
    arming = Arming()
    arming.painted(10.0)
    arming.touched(10.4)
    assert not arming.counts(10.6)
    arming.touched(3.0)
    assert arming.counts(10.9)


def test_what_is_painted_anew_has_to_be_looked_at_again() -> None:
    arming = Arming()
    arming.painted(10.0)
    assert arming.counts(10.6)
    arming.painted(10.6)
    assert not arming.counts(10.7)


def test_keys_are_early_until_an_answer_could_have_counted_once() -> None:
    arming = Arming()
    arming.painted(10.0)
    assert arming.early(10.3)
    arming.touched(10.3)
    assert not arming.early(10.9)
    arming.touched(10.9)
    assert not arming.early(11.0)
    arming.keep("a")
    arming.keep("b")
    arming.unkeep()
    assert [arming.take(), arming.take()] == ["a", ""]
