"""A call while the model writes it: how much has come, and what it is about.

The arguments are parsed once, strictly, when they are whole. Until then the first characters are only looked
through for the one argument that tells a person what comes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from tui_agent.agent.events import ToolCallProgress
from tui_agent.agent.model import ToolCallDelta

PROGRESS_BYTES = 1024
"""A call is told of once in so many bytes."""
LOOKED_AT = 2000
"""Characters in which its subject is looked for."""

_SUBJECT = re.compile(r'(?<!\\)"(?:command|pattern|path)"\s*:\s*("(?:[^"\\]|\\.)*")')


@dataclass
class Writing:
    bytes: int = 0
    subject: str = ""
    _head: str = ""

    def progress(self, delta: ToolCallDelta) -> ToolCallProgress | None:
        """What there is to tell after `delta`, if anything."""
        before, self.bytes = self.bytes, self.bytes + len(delta.partial)
        found = self._look(delta.partial)
        if before and not found and before // PROGRESS_BYTES == self.bytes // PROGRESS_BYTES:
            return None
        return ToolCallProgress(
            call_id=delta.call_id, name=delta.name, bytes=self.bytes, subject=self.subject
        )

    def _look(self, partial: str) -> bool:
        if self.subject or len(self._head) >= LOOKED_AT:
            return False
        self._head += partial[:LOOKED_AT]
        if (match := _SUBJECT.search(self._head)) is not None:
            try:
                self.subject = json.loads(match[1])
            except ValueError:
                self._head = " " * LOOKED_AT  # the whole of it will say what is wrong
        return bool(self.subject)
