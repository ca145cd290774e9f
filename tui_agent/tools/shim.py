"""The supervisor of one command: a script of its own, run as `python -I -S shim.py LIFE STATUS`.

It reads what to run from stdin (`count of arguments`, arguments, environment, each ended by NUL), then is
two processes:

    program ── guard ── supervisor ── bash -c COMMAND ── whatever that starts

Both are child subreapers: whatever is orphaned below becomes a child of the supervisor, however it left
(setsid, double fork, nohup), and `waitpid` answering ECHILD is the proof that nothing is left. If the
command kills its supervisor the orphans fall to the guard, which ends them; if it stops it, the guard
wakes it. The command line is not in our arguments, so `pkill -f WORD` in a command can't match us.

LIFE is the lifeline: a pipe whose write end only the program holds. When it closes, by intent or because
the program died, everything is stopped, killed and reaped. Before that `T<seconds>` asks politely: TERM to
all, then that long to end. STATUS carries our words, a line each:

    start PID       it runs
    fail REASON     it could not be started; nothing ran
    exit CODE       the command itself ended (below 0: by that signal); others may go on
    ended COUNT     processes that were still running when we ended them
    left COUNT      processes that could not be ended (another user's, or stuck in the kernel)

Without subreapers (not Linux) the same walk finds what is still below us or in the command's process
group; a daemon that left both is lost.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

PATIENCE = 5.0
"""Seconds that ending may take in all."""

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
KERNEL_TELLS = os.path.exists("/proc/thread-self/children")
"""Whether /proc lists children; else `ps` does, and process groups must help."""


def prctl(option: int, value: int) -> None:
    """Best effort: other systems don't have it."""
    import ctypes

    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def below(root: int) -> list[int]:
    """Every process below `root`, parents first. Exact only once they are stopped: look until it settles."""
    found: dict[int, None] = {}
    ahead = [root]
    table = None if KERNEL_TELLS else family_by_ps()
    while ahead:
        pid = ahead.pop()
        children = children_by_kernel(pid) if table is None else table.get(pid, [])
        fresh = [child for child in children if child not in found]
        found |= dict.fromkeys(fresh)
        ahead += fresh
    return list(found)


def children_by_kernel(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as listing:
                found += map(int, listing.read().split())
    return found


def family_by_ps() -> dict[int, list[int]]:
    import subprocess

    table: dict[int, list[int]] = {}
    listing = ["ps", "-A", "-o", "pid=", "-o", "ppid="]
    with suppress(OSError), subprocess.Popen(listing, stdout=subprocess.PIPE) as ps:
        for line in ps.stdout or ():
            pid, parent = map(int, line.split())
            if pid != ps.pid:
                table.setdefault(parent, []).append(pid)
    return table


def running(pids: Iterable[int]) -> set[int]:
    """Those that are not just waiting to be reaped."""
    found = set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                if stat.read().rpartition(b") ")[2][:1] not in b"ZX":
                    found.add(pid)
        except OSError:
            if not KERNEL_TELLS:
                found.add(pid)
    return found


def send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with suppress(OSError):
            os.kill(pid, number)


def reap() -> tuple[dict[int, int], bool]:
    """Exit codes of the children that ended by now, and whether there are others."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if pid == 0:
            return ended, True
        ended[pid] = os.waitstatus_to_exitcode(status)


def sweep(group: int) -> tuple[int, int]:
    """End everything below us: stop it until no one new appears, kill, reap, look again.

    Returns how many were running, and how many we could not end.
    """
    ended: set[int] = set()
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        held: set[int] = set()
        while fresh := set(below(os.getpid())) - held:
            send(fresh, signal.SIGSTOP)
            held |= fresh
            if time.monotonic() > until:
                break
        ended |= running(held)
        send(held, signal.SIGKILL)
        if group and not KERNEL_TELLS:
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        pause = 0.0005
        for _ in range(8):  # the killed need a moment to die; then others may have come to us
            if not reap()[1]:
                return len(ended), 0
            time.sleep(pause)
            pause *= 2
    return len(ended), len(running(below(os.getpid())))


class Supervisor:
    def __init__(self, life: int, status: int, argv: list[bytes], env: dict[bytes, bytes]) -> None:
        self.life, self.status = life, status
        self.argv, self.env = argv, env
        self.command = 0

    def say(self, *words: object) -> None:
        with suppress(OSError):  # the program may be gone; then LIFE ends us
            os.write(self.status, (" ".join(map(str, words)) + "\n").encode("utf-8", "replace"))

    def run(self) -> None:
        wake, waker = os.pipe()
        for fd in (wake, waker):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        if wait_for([self.life], 0):
            return  # cancelled before it began
        try:
            self.command = os.fork()
        except OSError as error:
            self.say("fail", error.strerror)
            return
        if self.command == 0:
            self.become_command()
        let_go()
        self.say("start", self.command)
        self.watch(wake)
        ended, left = sweep(self.command)
        self.say("ended", ended)
        if left:
            self.say("left", left)

    def become_command(self) -> None:
        try:
            os.setsid()
            for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
                with suppress(OSError, ValueError):
                    signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, ())
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.execve(self.argv[0], self.argv, self.env)
        except OSError as error:
            os.write(2, b"cannot run %s: %s\n" % (self.argv[0], os.fsencode(error.strerror or "")))
        finally:
            os._exit(127)

    def watch(self, wake: int) -> None:
        """Until nothing is left of the command, or the lifeline closes, or its grace is over."""
        over: float | None = None
        while True:
            ended, more = reap()
            if self.command in ended:
                self.say("exit", ended[self.command])
            if not more:
                return
            ready = wait_for([self.life, wake], None if over is None else over - time.monotonic())
            if wake in ready:
                os.read(wake, 4096)
            if self.life in ready:
                asked = os.read(self.life, 64)
                if not asked:
                    return
                over = time.monotonic() + float(asked.strip().rpartition(b"T")[2])
                everyone = below(os.getpid())  # a shell is asked before its children, so that its trap runs
                send(everyone, signal.SIGTERM)
                send(everyone, signal.SIGCONT)
            if over is not None and time.monotonic() >= over:
                return


def wait_for(fds: list[int], seconds: float | None) -> list[int]:
    """Those that can be read. Not select(): it can't take descriptors from 1024 on."""
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    return [fd for fd, _ in poll.poll(None if seconds is None else max(0.0, seconds * 1000))]


def let_go() -> None:
    """Hold neither the output nor stdin of the command."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)


def guard(supervisor: int) -> None:
    """Stand behind the supervisor: wake it when it is stopped, take over when it is killed."""
    let_go()
    while True:
        pid, how = os.waitpid(-1, os.WUNTRACED)
        if pid == supervisor and os.WIFSTOPPED(how):
            os.kill(supervisor, signal.SIGCONT)
        elif pid == supervisor:
            break
    if os.WIFSIGNALED(how):
        sweep(0)


def main() -> None:
    life, status = int(sys.argv[1]), int(sys.argv[2])
    for fd in (life, status):
        os.set_inheritable(fd, False)
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
        with suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    with open(0, "rb", closefd=False) as order:
        count, *items = order.read().split(b"\0")[:-1]
    argv, settings = items[: int(count)], items[int(count) :]
    env = dict(setting.split(b"=", 1) for setting in settings)
    supervisor = Supervisor(life, status, argv, env)
    try:
        pid = os.fork()
    except OSError as error:
        supervisor.say("fail", error.strerror)
        return
    if pid:
        os.close(life)
        guard(pid)
    else:
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # not inherited
        supervisor.run()


if __name__ == "__main__":
    main()
    os._exit(0)  # at once: nothing here needs the interpreter's own end, and the program waits for ours
