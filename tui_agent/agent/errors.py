"""The error tree of the library.

Cancelled           the run's signal is set; not asyncio.CancelledError, which belongs to the host
ToolError           a tool could not do it; the message goes to the model as it is
└ StaleProposal     what was approved no longer applies: prepare and ask again
ModelError          the model could not answer; `hint` tells the person what to do
"""

from __future__ import annotations

from typing import Literal

Phase = Literal["request", "stream"]


class Cancelled(Exception):
    """Raised where a cancelled run stops. `output` is what a tool had produced until then."""

    def __init__(self, reason: str = "user", output: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.output = output


class ToolError(Exception):
    """The tool's own word that it failed, written as the next step for the model."""


class StaleProposal(ToolError):
    """The base of an approved proposal changed before it ran; nothing was done."""


class ModelError(Exception):
    """A request that brought no answer.

    `kind` is one word of a small set (see `models/anthropic.py`), `hint` the next step for the person,
    `phase` whether the reply had begun, `retry_after` the server's wish in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "error",
        hint: str = "",
        phase: Phase = "request",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.hint = hint
        self.phase = phase
        self.status = status
        self.retry_after = retry_after
