"""The lean import against the SDK's own, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

TELL = """
import json, sys
names = {}
for name in wanted:
    value = getattr(anthropic, name)
    names[name] = getattr(value, "__qualname__", type(value).__qualname__)
print(json.dumps({"names": names, "modules": len([m for m in sys.modules if m.startswith("anthropic")])}))
"""
PLAIN = "import anthropic, anthropic.types, anthropic.resources.messages\nwanted = list(anthropic.__all__)\n"
LEAN = "from tui_agent.models.anthropic import _import_sdk\n{first}\n_import_sdk()\nimport anthropic\n"


def told(script: str) -> Any:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_every_name_is_there_and_is_what_it_was() -> None:
    plain = told(PLAIN + TELL)
    lean = told(LEAN.format(first="") + f"wanted = {list(plain['names'])!r}\n" + TELL)
    assert len(plain["names"]) > 50
    assert lean["names"] == plain["names"]


def test_most_of_it_stays_unloaded() -> None:
    plain = told(PLAIN + "wanted = []\n" + TELL)["modules"]
    lean = told(LEAN.format(first="") + "wanted = []\n" + TELL)["modules"]
    assert lean < plain / 2, (lean, plain)


def test_types_are_found_in_their_packages() -> None:
    script = (
        LEAN.format(first="")
        + "from anthropic.types import Message, TextBlock\nfrom anthropic.types.beta import *\n"
        "import anthropic.types.beta.sessions\n"
        "print(json.dumps([Message.__name__, TextBlock(type='text', text='x').text, BetaMessage.__name__]))"
    )
    assert told("import json\n" + script) == ["Message", "x", "BetaMessage"]


def test_a_version_that_is_laid_out_otherwise_is_imported_as_it_wants() -> None:
    first = "from tui_agent.models import lean_sdk; lean_sdk._Names.exec_module = None"
    lean = told(LEAN.format(first=first) + "wanted = ['AsyncAnthropic']\n" + TELL)
    assert lean["names"]["AsyncAnthropic"].endswith("AsyncAnthropic")
    assert lean["modules"] > 2000
