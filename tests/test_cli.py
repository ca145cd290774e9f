"""The installed command line, run as a process: what it refuses, and how."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tui_agent
from tui_agent import paths

COMMAND = [sys.executable, "-m", "tui_agent"]


def tui(
    *arguments: str, cwd: Path, stdin: str = "", command: list[str] = COMMAND, **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*command, *arguments],
        cwd=cwd,
        input=stdin,
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def refused(*arguments: str, cwd: Path, stdin: str = "", **env: str) -> str:
    """Exit code 2, nothing on stdout, one message without a traceback."""
    run = tui(*arguments, cwd=cwd, stdin=stdin, **env)
    assert (run.returncode, run.stdout) == (2, ""), run
    assert run.stderr.startswith("tui-agent: ")
    assert "Traceback" not in run.stderr
    return run.stderr


def test_version_and_help(tmp_path: Path) -> None:
    assert tui("--version", cwd=tmp_path).stdout == f"tui-agent {tui_agent.__version__}\n"
    assert "--output-format" in tui("--help", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--modell", "x"], "there is no option --modell. Did you mean --model?"),
        (["--zzzzzz=1"], "there is no option --zzzzzz. See: tui-agent --help"),
        (["--mode", "yolo"], "invalid choice: 'yolo'"),
        (["--mod", "ask"], "there is no option --mod"),
        (["--max-steps", "0"], "'0' is not a whole number from 1"),
        (["--max-steps", "-3"], "--max-steps"),
        (["--max-steps", "1.5"], "'1.5' is not a whole number from 1"),
        (["--theme", "no-such"], "there is no theme no-such. Themes: dark, light, ansi-dark, "),
        (["--plain", "-p", "x"], "--plain is a conversation and -p is one turn"),
        (["nowhere"], "the folder nowhere does not exist"),
        (["file"], "file is a file. Name the folder to work in"),
        ([""], "the folder's name is empty"),
        (["a", "b"], "unrecognized arguments: b"),
        (["-p", ""], "the prompt is empty"),
        (["-p", " \n"], "the prompt is empty"),
        (["-p", "-"], "the prompt is empty"),
        (["-p"], "expected one argument"),
        (["-p", "x", "--output-format", "xml"], "invalid choice: 'xml'"),
        (["-p", "x", "--allow", "run_command("], "rule 'run_command('"),
        (["-p", "x", "--deny", "run_command(a"], "rule 'run_command(a'"),
        (["--allow", "", "-p", "x"], "rule ''"),
        (["-p", "x"], "there is no key for the model. Set ANTHROPIC_API_KEY"),
        (["-p", "x", "--resume=zzz", "--demo"], "there is no session 'zzz'"),
        (["-p", "x", "--continue", "--demo"], "there is no earlier session"),
        (["doctor", "x"], "doctor takes only --online (make one small request), not x"),
        ([], "the screen needs a terminal"),
    ],
)
def test_what_can_t_be_done_is_one_message_with_the_next_step(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "file").touch()
    assert words in refused(*arguments, cwd=tmp_path)


def test_escape_sequences_in_arguments_are_drawn(tmp_path: Path) -> None:
    assert "\x1b" not in refused("--\x1b]0;x\x07", cwd=tmp_path)
    assert "\x1b" not in refused("a\x1b[31m", cwd=tmp_path)


def test_settings_that_can_t_be_read_name_the_line(tmp_path: Path) -> None:
    file = paths.settings_file()
    file.parent.mkdir(parents=True)
    file.write_text('mode = "ask"\nmode\n')
    assert f"{file}, line 2: " in refused("-p", "x", cwd=tmp_path)


def test_a_bad_rule_in_the_settings_is_found_before_anything_starts(tmp_path: Path) -> None:
    file = paths.settings_file()
    file.parent.mkdir(parents=True)
    file.write_text('deny = ["run_command(rm"]\n')
    assert "run_command(rm" in refused("-p", "x", "--demo", cwd=tmp_path)


def test_a_deleted_folder_is_told(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m tui_agent -p x"
    run = tui("-c", script, cwd=tmp_path, command=["/bin/bash"])
    assert run.returncode == 2
    assert "has been deleted" in run.stderr


@pytest.mark.parametrize("python_path", ["-", ":", "", "/nowhere:"])
@pytest.mark.parametrize("command", [COMMAND, [str(Path(sys.executable).with_name("tui-agent"))]])
def test_the_working_folder_is_no_source_of_modules(
    tmp_path: Path, command: list[str], python_path: str
) -> None:
    for name in ("textual", "anthropic", "platformdirs", "tomllib", "argparse", "ctypes", "dataclasses"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w')\n")
    (tmp_path / ".env").write_text("ANTHROPIC_API_KEY=sk-planted-0123456789\n")
    run = tui("-p", "x", cwd=tmp_path, command=command, PYTHONPATH=python_path)
    assert "there is no key" in run.stderr
    assert not (tmp_path / "planted").exists()


def test_resume_alone_lists_and_leaves_the_folder_argument_alone(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    run = tui("--resume", "project", cwd=tmp_path)
    assert (run.returncode, run.stderr) == (0, "")
    assert f"no session in {tmp_path / 'project'} yet" in run.stdout
