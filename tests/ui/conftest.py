from __future__ import annotations

import pytest
from asked import Quiet
from textual import _wait

from tui_agent.ui import arming


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers count as soon as the question is painted, in tests that are not about the quiet before them."""
    monkeypatch.setattr(arming, "QUIET", 0.0)


@pytest.fixture(autouse=True)
def _short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pilot waits after each key until the process slept through a look, and most looks are just waiting."""
    monkeypatch.setattr(_wait, "SLEEP_GRANULARITY", 1 / 200)
    monkeypatch.setattr(_wait, "SLEEP_IDLE", 1 / 4000)


@pytest.fixture
def quiet(_quick: None, monkeypatch: pytest.MonkeyPatch) -> Quiet:
    return Quiet(monkeypatch)
