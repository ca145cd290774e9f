"""How commands ended, in words for the model and the eye."""

from __future__ import annotations

import signal

from tui_agent.text import plural
from tui_agent.tools.process import Ended


def how_it_ended(ended: Ended, timeout: float = 0) -> str:
    """`exit 1`, `ended by signal 11 (SIGSEGV)`, `timed out after 120 s` …"""
    if ended.how == "timeout":
        return f"timed out after {timeout:g} s and was ended"
    if ended.how == "stopped":
        return f"stopped after {ended.seconds:.1f} s"
    if ended.how == "lost" or ended.code is None:
        return "its supervisor was killed, probably by the command itself; its exit code is unknown"
    if ended.code < 0:
        return f"ended by signal {-ended.code} ({_signal_name(-ended.code)})"
    return f"exit {ended.code}"


def leftovers(ended: Ended) -> list[str]:
    """What there is to say about processes beside the command itself."""
    said = []
    if ended.background:
        were = "was" if ended.background == 1 else "were"
        said.append(
            f"{plural(ended.background, 'background process')} {were} ended with it; "
            "use background=true for what should go on"
        )
    if ended.left:
        said.append(f"{plural(ended.left, 'process')} could not be ended (another user's, or stuck)")
    return said


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
