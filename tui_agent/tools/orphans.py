"""What the program does to itself, first of all at its start, so that commands can neither outlive nor
read it. Linux only; elsewhere these do nothing.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress

from tui_agent.tools import shim

PATIENCE = 2.0
"""Seconds for ending what was adopted."""
_adopting = False


def adopt_orphans() -> None:
    """Become the parent of whatever loses its supervisor and its guard, so that `sweep` finds it."""
    global _adopting
    shim.prctl(shim.PR_SET_CHILD_SUBREAPER, 1)
    _adopting = shim.KERNEL_TELLS


def hide_memory() -> None:
    """Let no other process of this user read our memory or environment: the key is in it."""
    shim.prctl(shim.PR_SET_DUMPABLE, 0)


def now_in_ticks() -> int:
    """The clock by which the kernel says when a process was started."""
    if not shim.KERNEL_TELLS:
        return 0
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


def sweep(since: int, keep: Collection[int]) -> int:
    """End what we adopted: our children in sessions of their own, started from `since` on.

    What we start ourselves stays in our session, or in one of `keep`. Returns how many were ended.
    """
    ended: set[int] = set()
    until = time.monotonic() + PATIENCE
    while _adopting and time.monotonic() < until:
        lost = {pid for pid in shim.children_by_kernel(os.getpid()) if _is_orphan(pid, since, keep)}
        if not lost:
            break
        family = lost.union(*map(shim.below, lost))
        shim.send(family, signal.SIGSTOP)
        family |= set().union(*map(shim.below, lost))
        ended |= shim.running(family)
        shim.send(family, signal.SIGKILL)
        for pid in lost:
            _reap(pid, until)
    return len(ended)


def _is_orphan(pid: int, since: int, keep: Collection[int]) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            fields = stat.read().rpartition(b") ")[2].split()
    except OSError:
        return False
    session, started = int(fields[3]), int(fields[19])
    return session not in keep and session != os.getsid(0) and started > since


def _reap(pid: int, until: float) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(pid, os.WNOHANG) == (0, 0) and time.monotonic() < until:
            time.sleep(0.001)
