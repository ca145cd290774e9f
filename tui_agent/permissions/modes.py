"""The four modes: what runs, what asks and what is refused when no rule says otherwise.

| mode         | reads | changes in the folder       | commands                                       |
|--------------|-------|-----------------------------|------------------------------------------------|
| plan         | run   | refused                     | refused                                        |
| ask          | run   | ask                         | ask                                            |
| accept-edits | run   | run; protected paths ask    | ask                                            |
| auto         | run   | run; protected paths ask    | the read-only list; all of them in the sandbox |
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

Verdict = Literal["allow", "ask", "deny"]


class Mode(StrEnum):
    PLAN = "plan"
    ASK = "ask"
    ACCEPT_EDITS = "accept-edits"
    AUTO = "auto"

    def next(self) -> Mode:
        """The mode that Shift+Tab goes to."""
        modes = list(Mode)
        return modes[(modes.index(self) + 1) % len(modes)]

    @property
    def writes(self) -> Verdict:
        """What happens to a change of an ordinary file in the folder."""
        return _WRITES[self]

    @property
    def commands(self) -> Verdict:
        """What happens to a command that neither a rule nor the read-only list covers."""
        return "deny" if self is Mode.PLAN else "ask"

    @property
    def note(self) -> str:
        """What the model is told when this mode is set."""
        return f"The mode is now {self.value}: {_NOTES[self]}"


_WRITES: dict[Mode, Verdict] = {
    Mode.PLAN: "deny",
    Mode.ASK: "ask",
    Mode.ACCEPT_EDITS: "allow",
    Mode.AUTO: "allow",
}

_NOTES = {
    Mode.PLAN: "read and propose; changes and commands are refused until the person leaves this mode.",
    Mode.ASK: "each change and each command is shown to the person first, who may decline it.",
    Mode.ACCEPT_EDITS: "changes in the folder run without asking; commands are shown to the person first.",
    Mode.AUTO: "changes in the folder and read-only commands run without asking; the rest is shown first.",
}
