"""Nothing of a command is left, whatever shape its tree has and whichever way it ends."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tools.process_trees import Running, fresh_tag, gone_within, survivors

from tui_agent.agent.cancel import CancelSignal
from tui_agent.agent.errors import Cancelled, ToolError
from tui_agent.tools import lifeline, process, shim
from tui_agent.tools.process import Supervised, kill_all, run

PYTHON_DAEMON = (
    "import os,signal,time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "os.execvp('sleep', ['sleep', '{tag}'])\n"
)
RESPAWNER = 'f() {{ sleep {tag} & sleep 0.01; setsid -f bash -c "$(declare -f f); f"; }}; export -f f; f; '

WITHOUT_CAPABILITIES = (
    ["env"]
    if os.getuid()
    else ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    if shutil.which("setpriv")
    else []
)

SHAPES = {
    "plain": "echo ready; sleep {tag}",
    "exec": "echo ready; exec sleep {tag}",
    "pipeline": "echo ready; sleep {tag} | sleep {tag} | cat",
    "background": "sleep {tag} & sleep {tag} & echo ready; wait",
    "nohup": "nohup sleep {tag} >/dev/null 2>&1 & echo ready; sleep {tag}",
    "disown": "sleep {tag} & disown -a; echo ready; sleep {tag}",
    "setsid": "setsid sleep {tag} & echo ready; sleep {tag}",
    "setsid -f": "setsid -f sleep {tag}; echo ready; sleep {tag}",
    "env -i": "env -i setsid -f sleep {tag}; echo ready; sleep {tag}",
    "double fork": f'python3 -c "{PYTHON_DAEMON}"; echo ready; sleep {{tag}}',
    "trap": "trap '' TERM INT HUP QUIT; echo ready; while :; do sleep {tag}; done",
    "stopped": "sleep {tag} & kill -STOP $!; echo ready; sleep {tag}",
    "stopped shell": "sleep {tag} & echo ready; kill -STOP $$",
    "subshells": "( ( ( sleep {tag} & ) & ) & ); echo ready; sleep {tag}",
    "substitution": "echo ready; x=$(sleep {tag})",
    "process substitution": "echo ready; cat <(sleep {tag}) > >(sleep {tag})",
    "coproc": "coproc sleep {tag}; echo ready; sleep {tag}",
    "threads": 'python3 -c "import threading, time\n'
    "for _ in range(4): threading.Thread(target=time.sleep, args=({tag},)).start()\n"
    "print('ready', flush=True)\"",
    "closed output": "sleep {tag} >&- 2>&- & echo ready; exec >&- 2>&-; sleep {tag}",
    "other group": "set -m; sleep {tag} & sleep {tag} & echo ready; wait",
}


@pytest.mark.parametrize("shape", SHAPES)
async def test_end_leaves_nothing_of_any_shape(shape: str, tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(SHAPES[shape].format(tag=tag), tmp_path)
    await running.says(b"ready")
    assert survivors(tag)
    ended, seconds = await running.end()
    assert survivors(tag) == {}
    assert ended.how == "stopped"
    assert seconds < 0.5


async def test_storm_of_daemons(tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(
        f"for i in $(seq 200); do setsid -f sleep {tag}; done; echo ready; sleep {tag}", tmp_path
    )
    await running.says(b"ready")
    assert len(survivors(tag)) >= 200
    _, seconds = await running.end()
    assert survivors(tag) == {}
    assert seconds < 1


async def test_respawner_that_always_has_a_new_session(tmp_path: Path) -> None:
    tag = fresh_tag()
    script = tmp_path / "again"
    script.write_text(f"#!/bin/bash\nsleep {tag} &\nsleep 0.02\nsetsid -f {script}\n")
    script.chmod(0o755)
    running = Running(f"{script}; sleep 0.2; echo ready; sleep {tag}", tmp_path)
    await running.says(b"ready")
    await running.end()
    assert survivors(tag) == {}
    assert survivors(str(script)) == {}


@pytest.mark.heavy
async def test_fork_bomb_and_flood_of_sessions(tmp_path: Path) -> None:
    for grow in ("( {script} & )", "setsid -f {script}"):
        tag, script = fresh_tag(), tmp_path / f"bomb{len(grow)}"
        script.write_text(
            f"#!/bin/bash\necho x >> {script}.count\n[ $(wc -l < {script}.count) -gt 400 ] "
            f"&& exec sleep {tag}\n{grow.format(script=script)}\n{grow.format(script=script)}\n"
        )
        script.chmod(0o755)
        running = Running(f"{script}; sleep 0.5; echo ready; sleep {tag}", tmp_path)
        await running.says(b"ready")
        _, seconds = await running.end()
        assert survivors(tag) == survivors(str(script)) == {}
        assert seconds < 2


async def test_six_ended_together(tmp_path: Path) -> None:
    tag = fresh_tag()
    mixed = f"setsid -f sleep {tag}; sleep {tag} & sleep {tag} | cat & echo ready; wait"
    all_running = [Running(mixed, tmp_path) for _ in range(6)]
    await asyncio.gather(*(running.says(b"ready") for running in all_running))
    took = [seconds for _, seconds in await asyncio.gather(*(running.end() for running in all_running))]
    assert survivors(tag) == {}
    assert max(took) < 1


async def cancel_at_random_moments(times: int, folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    fds = len(os.listdir("/proc/self/fd"))
    tag = fresh_tag()
    command = f"setsid -f sleep {tag}; sleep {tag} & sleep {tag}"
    for number in range(times):
        signal_, delay = CancelSignal(), chance.uniform(0, 0.12)
        work = asyncio.create_task(
            run(["/bin/bash", "-c", command], folder=str(folder), env={}, output=len, signal=signal_)
        )
        if number % 3 == 0:  # the host cancels the task instead
            asyncio.get_running_loop().call_later(delay, work.cancel)
        else:
            asyncio.get_running_loop().call_later(delay, signal_.cancel)
        try:
            assert (await work).how == "stopped"
        except (asyncio.CancelledError, Cancelled):
            pass
        assert survivors(tag) == {}, f"cancelled after {delay:.4f} s"
    assert len(os.listdir("/proc/self/fd")) <= fds + 3


async def test_cancelled_at_random_moments(tmp_path: Path) -> None:
    await cancel_at_random_moments(25, tmp_path, seed=1)


@pytest.mark.heavy
async def test_cancelled_at_many_random_moments(tmp_path: Path) -> None:
    await cancel_at_random_moments(300, tmp_path, seed=2)


async def test_signal_set_before_starts_nothing(tmp_path: Path) -> None:
    signal_ = CancelSignal()
    signal_.cancel("user")
    with pytest.raises(Cancelled):
        await run(["/bin/touch", "made"], folder=str(tmp_path), env={}, output=len, signal=signal_)
    assert os.listdir(tmp_path) == []


async def test_signal_from_another_thread(tmp_path: Path) -> None:
    tag, signal_ = fresh_tag(), CancelSignal()
    threading.Timer(0.1, signal_.cancel).start()
    ended = await run(["/bin/sleep", tag], folder=str(tmp_path), env={}, output=len, signal=signal_)
    assert (ended.how, survivors(tag)) == ("stopped", {})


async def test_ends_with_its_shell_and_counts_what_it_left(tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(f"echo hi; sleep {tag} & sleep {tag} >/dev/null 2>&1 &", tmp_path)
    ended = await running.process.wait()
    assert (ended.how, ended.code, ended.background) == ("exited", 0, 2)
    assert ended.seconds < 1
    assert running.output == b"hi\n"
    assert survivors(tag) == {}


async def test_late_output_of_the_background_is_kept(tmp_path: Path) -> None:
    running = Running("(sleep .15; echo late) & echo hi", tmp_path)
    ended = await running.process.wait()
    assert running.output == b"hi\nlate\n"
    assert ended.background == 0


async def test_a_tee_behind_the_shell_is_read_to_its_end(tmp_path: Path) -> None:
    running = Running("seq 20000 > >(cat)", tmp_path)
    await running.process.wait()
    assert running.output == b"".join(b"%d\n" % n for n in range(1, 20001))


async def test_stop_within_the_drain_does_not_rewrite_how_it_ended(tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(f"sleep {tag} & exit 3", tmp_path)
    while running.process._code is None:
        await asyncio.sleep(0.005)
    ended, _ = await running.end()
    assert (ended.how, ended.code) == ("exited", 3)
    assert survivors(tag) == {}


async def test_timeout_is_polite_first(tmp_path: Path) -> None:
    running = Running('trap "echo bye" TERM; sleep 5 & echo ready; wait', tmp_path, timeout=0.5)
    ended = await running.process.wait()
    assert ended.how == "timeout"
    assert running.output == b"ready\nbye\n"
    assert ended.seconds < 2


async def test_timeout_then_kills(tmp_path: Path) -> None:
    tag, canary = fresh_tag(), tmp_path / "canary"
    running = Running(
        f"(trap '' TERM; sleep 3.5; touch {canary}) >/dev/null & setsid sleep {tag} & "
        f"trap '' TERM; sleep {tag}",
        tmp_path,
        timeout=0.5,
    )
    ended = await running.process.wait()
    assert ended.how == "timeout"
    assert 0.5 + process.GRACE <= ended.seconds < 0.5 + process.GRACE + 1
    assert survivors(tag) == survivors(str(canary)) == {}
    assert not canary.exists()


async def test_escape_during_the_grace_kills_at_once(tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(f"trap 'echo asked' TERM; while :; do sleep {tag}; done", tmp_path, timeout=0.3)
    await running.says(b"asked")
    _, seconds = await running.end()
    assert seconds < 0.5
    assert survivors(tag) == {}


@pytest.mark.parametrize("victim", ["$PPID", "$(ps -o ppid= -p $PPID)"])
async def test_command_that_kills_its_supervisor_or_the_guard(victim: str, tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(
        f"setsid -f sleep {tag}; sleep {tag} & echo ready; kill -9 {victim}; sleep {tag}", tmp_path
    )
    await running.says(b"ready")
    if victim == "$PPID":
        ended = await running.process.wait()
        assert ended.how == "lost"
    else:
        await running.end()
    assert survivors(tag) == {}


async def test_command_that_kills_supervisor_and_guard(tmp_path: Path) -> None:
    tag = fresh_tag()
    program = f"""
import asyncio, os, sys
from tui_agent.tools import orphans
from tui_agent.tools.process import run
orphans.adopt_orphans()
other = __import__("subprocess").Popen(["sleep", "1000"], start_new_session=True)
async def main():
    return await run(["/bin/bash", "-c", '''setsid -f sleep {tag}; sleep {tag} &
        kill -9 $(ps -o ppid= -p $PPID) $PPID; sleep {tag}'''], folder="/", env=dict(os.environ), output=len)
print(asyncio.run(main()))
print(other.poll())
other.kill()
"""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert "how='lost'" in done.stdout, done
    assert done.stdout.endswith("None\n"), "a process of our own was swept away"
    assert survivors(tag) == {}


async def test_stopped_supervisor_goes_on(tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(f"kill -STOP $PPID; setsid -f sleep {tag}; echo ready; sleep {tag}", tmp_path)
    await running.says(b"ready")
    _, seconds = await running.end()
    assert survivors(tag) == {}
    assert seconds < 1


async def test_word_in_the_command_does_not_match_the_supervisor(tmp_path: Path) -> None:
    tag = fresh_tag()
    running = Running(f"true; pkill -9 -f {tag}; true", tmp_path)  # it matches its own shell, as anywhere
    ended = await running.process.wait()
    assert (ended.how, ended.code) == ("exited", -9)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT])
def test_death_of_the_program_ends_the_tree(how: signal.Signals) -> None:
    tag = fresh_tag()
    program = f"""
import asyncio, os
from tui_agent.tools.process import run
asyncio.run(run(["/bin/bash", "-c", "env -i setsid -f sleep {tag}; sleep {tag} & echo ready; sleep {tag}"],
    folder="/", env=dict(os.environ), output=lambda data: os.write(1, data)))
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "ready\n"
        host.send_signal(how)
    assert gone_within(tag, 1) == {}


async def test_kill_all_ends_everything(tmp_path: Path) -> None:
    tag = fresh_tag()
    runs = [Running(f"setsid -f sleep {tag}; echo ready; sleep {tag}", tmp_path) for _ in range(3)]
    await asyncio.gather(*(running.says(b"ready") for running in runs))
    began = time.monotonic()
    assert kill_all()
    assert time.monotonic() - began < 1
    assert survivors(tag) == {}
    assert kill_all()


async def test_no_descriptor_of_ours_reaches_the_command(tmp_path: Path) -> None:
    held = [os.open(tmp_path, os.O_RDONLY) for _ in range(3)]
    for fd in held:
        os.set_inheritable(fd, True)
    running = Running("ls /proc/self/fd | tr '\\n' ' '", tmp_path)
    await running.process.wait()
    for fd in held:
        os.close(fd)
    assert running.output.split() == [b"0", b"1", b"2", b"3"]  # 3 is the folder that ls reads


async def test_no_terminal_and_nothing_to_read(tmp_path: Path) -> None:
    running = Running("cat; read x || echo eof; cat </dev/tty; echo $?; python3 -c 'input()'", tmp_path)
    ended = await running.process.wait()
    assert ended.code == 1
    assert b"eof\n" in running.output
    assert b"/dev/tty: No such device" in running.output
    assert b"EOFError" in running.output


async def test_signals_are_at_their_defaults(tmp_path: Path) -> None:
    running = Running(
        "grep -E 'Sig(Blk|Ign)' /proc/self/status; yes | head -1; echo ${PIPESTATUS[0]}", tmp_path
    )
    await running.process.wait()
    assert running.output.count(b"0000000000000000") == 2
    assert running.output.endswith(b"y\n141\n")


async def test_order_of_both_streams(tmp_path: Path) -> None:
    running = Running("for i in $(seq 2000); do echo $i; echo $i >&2; done", tmp_path)
    await running.process.wait()
    assert running.output == b"".join(b"%d\n%d\n" % (n, n) for n in range(1, 2001))


async def test_environment_arrives_as_given(tmp_path: Path) -> None:
    seen: list[bytes] = []
    env = {"A": "x=y\nz", "LC_ALL": "C", "ODD": os.fsdecode(b"\xff\xfe")}
    await run(["/usr/bin/env", "-0"], folder=str(tmp_path), env=env, output=seen.append)
    assert set(b"".join(seen).split(b"\0")) == {b"A=x=y\nz", b"LC_ALL=C", b"ODD=\xff\xfe", b""}


async def test_missing_program_and_missing_folder(tmp_path: Path) -> None:
    seen: list[bytes] = []
    ended = await run(["/no/such/program"], folder=str(tmp_path), env={}, output=seen.append)
    assert ended.code == 127
    assert b"cannot run /no/such/program: No such file" in b"".join(seen)
    with pytest.raises(ToolError, match=r"could not be started: No such file or directory.*Nothing ran"):
        await run(["/bin/true"], folder=str(tmp_path / "missing"), env={}, output=len)


async def test_no_room_for_another_process(tmp_path: Path) -> None:
    """The limit holds for ordinary users only, so the program runs as one."""
    if os.getuid() != 0:
        pytest.skip("needs root to become a user without processes")
    program = """
import asyncio, os, resource, sys
sys.path[:0] = sys.argv[1:]
from tui_agent.tools import lifeline
from tui_agent.tools.process import run
from tui_agent.agent.errors import ToolError
os.setgid(54321); os.setuid(54321)
resource.setrlimit(resource.RLIMIT_NPROC, (2, 2))
try:
    print(asyncio.run(run(["/bin/true"], folder="/", env={}, output=print)))
except (ToolError, RuntimeError) as error:
    print(error)
"""
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program, *sys.path], capture_output=True, text=True, timeout=20
    )
    assert "could not be started: Resource temporarily unavailable" in done.stdout, done


async def test_reader_that_fails_still_ends_the_command(tmp_path: Path) -> None:
    tag = fresh_tag()

    def broken(data: bytes) -> None:
        raise ValueError("reader")

    with pytest.raises(ValueError, match="reader"):
        await run(["/bin/bash", "-c", f"echo x; sleep {tag}"], folder=str(tmp_path), env={}, output=broken)
    assert gone_within(tag, 1) == {}


async def test_descriptors_beyond_1024(tmp_path: Path) -> None:
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
    try:
        running = Running("echo fine", tmp_path)
        ended = await running.process.wait()
    finally:
        for fd in held:
            os.close(fd)
    assert (ended.code, running.output) == (0, b"fine\n")


async def test_stuck_supervisor_is_forced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifeline.shim, "PATIENCE", -0.5)
    tag = fresh_tag()
    running = Running(f"echo ready; sleep {tag}", tmp_path)
    await running.says(b"ready")
    session = running.process.session
    guard_and_supervisor = [session, *shim.children_by_kernel(session)]
    for pid in guard_and_supervisor:
        os.kill(pid, signal.SIGSTOP)
    _, seconds = await running.end()
    assert seconds < 2
    for pid in survivors(tag):  # without adoption nobody is above it any more
        os.kill(pid, signal.SIGKILL)
    assert str(session) not in os.listdir("/proc")


@pytest.mark.skipif(not WITHOUT_CAPABILITIES, reason="needs setpriv, or to run as an ordinary user")
async def test_memory_is_hidden_from_the_same_user(tmp_path: Path) -> None:
    """Root reads everything by its capabilities, so the program gives them up."""
    program = """
import asyncio, os
from tui_agent.tools import orphans
from tui_agent.tools.process import run
if not os.environ.get("OPEN"):
    orphans.hide_memory()
orphans.adopt_orphans()
folder = os.open(".", os.O_PATH)
look = "cat /proc/$p/environ >/dev/null && echo read || echo hidden"
command = f"for p in {os.getpid()} $PPID; do {look}; done; pwd"
asyncio.run(run(["/bin/bash", "-c", command], folder=f"/proc/self/fd/{folder}",
    env=dict(PATH=os.environ["PATH"]), output=lambda data: os.write(1, data)))
"""

    async def told(**more: str) -> list[str]:
        done = await asyncio.to_thread(
            subprocess.run,
            [*WITHOUT_CAPABILITIES, sys.executable, "-c", program],
            capture_output=True,
            text=True,
            timeout=20,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more},
        )
        return [line for line in done.stdout.splitlines() if not line.startswith("cat:")]

    assert await told() == ["hidden", "hidden", str(tmp_path)]
    assert await told(OPEN="1") == ["read", "hidden", str(tmp_path)]


async def test_without_proc_the_walk_uses_ps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = await asyncio.create_subprocess_exec("/bin/bash", "-c", "sleep 1000 & echo up; wait", stdout=-1)
    assert child.stdout is not None
    await child.stdout.readline()
    by_kernel = shim.below(child.pid)
    monkeypatch.setattr(shim, "KERNEL_TELLS", False)
    assert set(shim.below(child.pid)) == set(by_kernel)
    assert len(by_kernel) == 1
    shim.send({child.pid, *by_kernel}, signal.SIGKILL)
    await child.wait()


async def test_no_more_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    fds = os.listdir("/proc/self/fd")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        with pytest.raises(ToolError, match=r"can't start new thread\. Nothing ran"):
            await run(["/bin/true"], folder=str(tmp_path), env={}, output=len)
    assert os.listdir("/proc/self/fd") == fds
    assert kill_all(0)


def test_what_can_not_be_ended_is_counted() -> None:
    """As with processes of another user: the supervisor gives up in bounded time, and says so."""
    program = """
import os, time
from tui_agent.tools import shim
shim.PATIENCE, really = 0.3, shim.send
shim.send = lambda pids, number: None
for _ in range(2):
    if not os.fork():
        time.sleep(60)
        os._exit(0)
print(shim.sweep(0))
really(shim.below(os.getpid()), 9)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert done.stdout == "(2, 2)\n", done


def test_without_kernel_lists_the_group_and_the_walk_end_the_tree() -> None:
    tag = fresh_tag()
    program = f"""
import os
from tui_agent.tools import shim
shim.KERNEL_TELLS = False
ready, told = os.pipe()
group = os.fork()
if not group:
    os.setsid()
    os.dup2(told, 1)
    os.execv("/bin/bash", ["bash", "-c", "(sleep {tag} & sleep {tag} &); setsid sleep {tag} & echo up; wait"])
os.read(ready, 10)
print(shim.sweep(group)[1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert done.stdout == "0\n", done
    assert gone_within(tag, 1) == {}


BWRAP = ["/usr/bin/bwrap", "--unshare-user", "--unshare-pid", "--die-with-parent", "--new-session"]
BWRAP += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]


@pytest.mark.skipif(
    not os.path.exists(BWRAP[0]) or subprocess.run([*BWRAP, "true"], capture_output=True).returncode != 0,
    reason="needs bubblewrap and user namespaces",
)
async def test_nothing_is_left_of_a_sandboxed_tree(tmp_path: Path) -> None:
    tag = fresh_tag()
    heard: list[bytes] = []
    ready = asyncio.Event()
    loop = asyncio.get_running_loop()

    def output(data: bytes) -> None:
        heard.append(data)
        loop.call_soon_threadsafe(ready.set)

    argv = [*BWRAP, "/bin/bash", "-c", f"env -i setsid -f sleep {tag}; sleep {tag} & echo ready; sleep {tag}"]
    command = Supervised(argv, folder=str(tmp_path), env=dict(os.environ), output=output).start()
    await asyncio.wait_for(ready.wait(), 20)
    assert heard == [b"ready\n"]
    assert survivors(tag)
    command.end()
    await command.wait()
    assert survivors(tag) == {}
