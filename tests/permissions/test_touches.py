"""What a question says a command would touch, on a real folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.permissions.syntax import parse
from tui_agent.permissions.touches import MOST, parts, touched


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.log", "b.log", "c d.txt", "build/x", "build/deep/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("rm *.log", ("a.log", "b.log")),
        ("rm -- *.log", ("a.log", "b.log")),
        ("rm 'c d.txt' missing", ("c d.txt",)),
        ("rm '*.log'", ()),
        ("rm -rf build", ("build  (2 files in it)",)),
        ("rm -rf ./build/", ("./build/  (2 files in it)",)),
        ("rm -fr build a.log", ("build  (2 files in it)", "a.log")),
        ("sudo rm -r build", ("build  (2 files in it)",)),
        ("bash -c 'rm -r build; true'", ("build  (2 files in it)",)),
        ("echo $(rm a.log)", ("a.log",)),
        ("rm {a,b}.log", ("a.log", "b.log")),
        ("for f in *.log; do rm $f; done", ("a.log", "b.log")),
        ("find build -type f -delete", ("build  (2 files below it, those that match)",)),
        ("find build -exec rm {} +", ("build  (2 files below it, those that match)",)),
        ("find build -name x", ()),
        ("mv a.log b.log", ("a.log", "b.log")),
        ("cp a.log b.log", ("b.log",)),
        ("sed -i s/x/y/ a.log", ("a.log",)),
        ("sed s/x/y/ a.log", ()),
        ("wc *.log", ("a.log", "b.log")),
        ("echo x > a.log", ("a.log",)),
        ("echo x >> new.txt", ("new.txt  (new)",)),
        ("make > /dev/null 2>&1", ()),
        ("cat <<E | tee a.log\nx\nE", ("a.log",)),
        ("cd build && rm x", ()),
        ("cd /; rm *.log", ()),
        ("ls", ()),
    ],
)
def test_what_is_named_and_there(folder: Path, command: str, paths: tuple[str, ...]) -> None:
    assert touched(command, parse(command), str(folder)) == paths


def test_absolute_paths_count_wherever_it_runs(folder: Path) -> None:
    command = f"cd / && rm {folder}/*.log"
    assert touched(command, parse(command), str(folder)) == (f"{folder}/a.log", f"{folder}/b.log")


@pytest.mark.parametrize("command", ["rm ~/old", 'rm "$HOME/old"'])
def test_home_is_filled_in(folder: Path, command: str) -> None:
    old = Path.home() / "old"
    old.touch()
    assert touched(command, parse(command), str(folder)) == (str(old),)


def test_what_does_not_fit_is_counted(folder: Path) -> None:
    for number in range(MOST + 10):
        (folder / f"n{number:03}").touch()
    paths = touched("rm n*", parse("rm n*"), str(folder))
    assert len(paths) == MOST + 1
    assert paths[-1] == "and 10 more"


@pytest.mark.parametrize(
    ("command", "texts"),
    [
        ("ls", ()),
        ("git add . && git commit -m 'a b'", ("git add .", "git commit -m 'a b'")),
        ("cat a | sh", ("cat a", "sh")),
        ("sudo ls", ()),
        ("bash -c 'rm x; ls'", ("bash -c 'rm x; ls'", "rm x", "ls")),
        ("echo $(rm a)", ("echo …", "rm a")),
        ("(cd b && rm x)", ("cd b", "rm x")),
        ("if true; then rm x; fi", ("true", "rm x")),
        ("rm a &", ("rm a",)),
    ],
)
def test_the_commands_one_by_one(command: str, texts: tuple[str, ...]) -> None:
    assert parts(command, parse(command)) == texts


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="rm -*?{},~$()<>|&;'\"\\\n a/.cd", max_size=60))
def test_odd_lines_never_break_a_question(command: str) -> None:
    script = parse(command)
    assert isinstance(parts(command, script), tuple)
    assert isinstance(touched(command, script, "/nonexistent"), tuple)
