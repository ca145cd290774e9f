from __future__ import annotations

import pytest
from asked import Quiet

from tui_agent.ui import arming


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers count as soon as the question is painted, in tests that are not about the quiet before them."""
    monkeypatch.setattr(arming, "QUIET", 0.0)


@pytest.fixture
def quiet(_quick: None, monkeypatch: pytest.MonkeyPatch) -> Quiet:
    return Quiet(monkeypatch)
