"""The review: what is taken, left out, edited and said, down to the bytes and the words to the model."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from app_host import armed, until
from asked import Host, Quiet, change_question, lines
from grid import golden, grid
from textual.widgets import Button

from tui_agent.agent import Allow, Deny, Pending, Proposal
from tui_agent.tools.changes import file_change
from tui_agent.tools.details import FileChange
from tui_agent.ui.widgets.key_rows import laid

BEFORE = lines(60)
AFTER = lines(60, line_9="nine", line_30="thirty", line_50="line 50\nand more")


def after(answer: Allow | Deny) -> bytes | None:
    assert isinstance(answer, Allow)
    assert isinstance(answer.proposal.details, FileChange)
    return answer.proposal.details.after


async def test_all_of_it_is_the_very_proposal() -> None:
    app = Host()
    async with app.run_test() as pilot:
        question = change_question("a.txt", BEFORE, AFTER)
        await app.put(pilot, question)
        assert "3 hunks, +3 −2" in grid(app)
        await pilot.press("end")
        await armed(pilot)
        await pilot.press("y")
        (answer,) = await app.answered()
        assert isinstance(answer, Allow)
        assert answer.proposal is question.pending.proposal
        assert answer.comment == ""


async def test_a_hunk_left_out_is_not_written_and_the_model_is_told() -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        await app.put(pilot, change_question("a.txt", BEFORE, AFTER, facts=("mode 0755",)))
        await pilot.press("]", "space")
        assert "2 of 3 hunks, +2 −1" in grid(app)
        assert "× " in grid(app)
        await armed(pilot)
        await pilot.press("y")
        (answer,) = await app.answered()
        assert after(answer) == lines(60, line_9="nine", line_50="line 50\nand more")
        assert isinstance(answer, Allow)
        assert isinstance(answer.proposal.details, FileChange)
        assert "mode 0755" in answer.proposal.details.facts
        assert answer.comment == "applied 2 of 3 hunks; not applied: hunk @@ -27,7 +27,7 @@"


async def test_single_lines_in_and_out() -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        await app.put(pilot, change_question("a.txt", b"a\nb\n", b"a\nx\ny\nb\n"))
        await pilot.press("down", "down", "l")
        assert "0 of 1 hunk and 1 in part, +1 −0" in grid(app)
        await armed(pilot)
        await pilot.press("y")
        (answer,) = await app.answered()
        assert after(answer) == b"a\ny\nb\n"
        assert isinstance(answer, Allow)
        assert answer.comment == (
            "applied 0 of 1 hunk and a part of 1; not applied: of hunk @@ -1,2 +1,4 @@ the lines +'x'"
        )


async def test_nothing_taken_is_a_no() -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        await app.put(pilot, change_question("a.txt", BEFORE, AFTER))
        await pilot.press("0")
        assert "0 of 3 hunks, +0 −0" in grid(app)
        await pilot.press("*")
        assert "3 hunks, +3 −2" in grid(app)
        await pilot.press("0")
        await armed(pilot)
        await pilot.press("y")
        assert await app.answered() == [Deny("no hunk was taken")]


async def test_comments_go_with_whatever_answer_follows() -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        for key in "yn":
            await app.put(pilot, change_question("a.txt", BEFORE, AFTER))
            await pilot.press("down", "down", "down", "down", "down", "c", *"why 9", "enter")
            assert "» why 9" in grid(app)
            await armed(pilot)
            await pilot.press(key)
            (answer,) = await app.answered()
            said = answer.comment if isinstance(answer, Allow) else answer.reason
            assert said == "comments: line 9 ('nine'): why 9"


async def test_keys_in_a_comment_are_text_and_escape_keeps_it() -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        await app.put(pilot, change_question("a.txt", BEFORE, AFTER))
        await pilot.press("r", *"y*0ev", "escape")
        await armed(pilot)
        await pilot.press("r")
        await pilot.press("!", "enter")
        assert await app.answered() == [Deny("y*0ev!")]


async def test_a_set_is_answered_file_by_file() -> None:
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        questions = [change_question(f"{name}.txt", BEFORE, lines(60, line_9=name)) for name in "abc"]
        await app.put(pilot, *questions)
        assert "file 1 of 3" in grid(app)
        golden("review_set_80x40", grid(app))
        await pilot.press("y")
        await armed(pilot)
        assert "file 2 of 3" in grid(app)
        await pilot.press("r", *"no", "enter")
        await armed(pilot)
        assert "file 3 of 3" in grid(app)
        await pilot.press("y")
        one, two, three = await app.answered()
        assert isinstance(one, Allow)
        assert two == Deny("no")
        assert isinstance(three, Allow)
        assert three.proposal is questions[2].pending.proposal


async def test_a_second_y_does_not_answer_the_next_file(quiet: Quiet) -> None:
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        await app.put(pilot, *(change_question(f"{name}.txt", None, b"x\n") for name in "ab"))
        await pilot.press("y")
        quiet.never()
        await pilot.press("y", "enter")
        assert app.asking is not None
        assert not app.asking.done()
        assert "file 2 of 2" in grid(app)


async def test_all_at_once_only_when_each_was_seen() -> None:
    app = Host()
    async with app.run_test(size=(80, 30)) as pilot:
        long = b"".join(b"%d\n" % n for n in range(200))
        await app.put(pilot, change_question("a.txt", None, b"x\n"), change_question("b.txt", None, long))
        await pilot.press("Y")
        await armed(pilot)
        assert app.asking is not None
        assert not app.asking.done()
        assert "not seen to its end" in grid(app)
        assert "file 2 of 2" in grid(app)
        await pilot.press("end")
        await armed(pilot)
        await pilot.press("Y")
        assert [type(answer) for answer in await app.answered()] == [Allow, Allow]


async def test_going_back_to_a_file_changes_its_answer() -> None:
    app = Host()
    async with app.run_test(size=(80, 50)) as pilot:
        await app.put(pilot, *(change_question(f"{n}.txt", BEFORE, AFTER) for n in "ab"))
        await pilot.press("n")
        await armed(pilot)
        await pilot.press("{")
        assert "denied" in grid(app)
        await pilot.press("space")
        await armed(pilot)
        await pilot.press("y")
        await armed(pilot)
        await pilot.press("y")
        one, two = await app.answered()
        assert after(one) == lines(60, line_30="thirty", line_50="line 50\nand more")
        assert after(two) == AFTER


async def test_y_waits_for_the_end_of_a_long_file() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.put(pilot, change_question("a.txt", None, b"".join(b"%d\n" % n for n in range(2000))))
        assert app.screen.query_one("#approve", Button).disabled
        await pilot.press("y")
        await pilot.press("left")
        await armed(pilot)
        await pilot.press("enter")
        assert app.asking is not None
        assert not app.asking.done()
        for _ in range(3):
            await pilot.press("pagedown")
        assert app.screen.query_one("#approve", Button).disabled
        await pilot.press("end")
        await armed(pilot)
        await pilot.press("y")
        assert isinstance((await app.answered())[0], Allow)


async def test_what_is_cut_off_at_the_side_was_not_seen() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.put(pilot, change_question("a.sh", None, b"#" + b" " * 9 + b"x" * 3000 + b"; evil\n"))
        await pilot.press("z", "end")
        await armed(pilot)
        assert app.screen.query_one("#approve", Button).disabled
        await pilot.press("z", "end")
        await armed(pilot)
        assert "; evil" in grid(app)
        assert not app.screen.query_one("#approve", Button).disabled
        await pilot.press("n")


def editor(folder: Path, script: str) -> str:
    path = folder / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def suspending(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def suspend(_app: Host):  # type: ignore[no-untyped-def]
        yield

    monkeypatch.setattr(Host, "suspend", suspend)


@pytest.mark.usefixtures("suspending")
async def test_the_editors_version_is_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(
        "VISUAL", editor(tmp_path, 'sed -i s/thirty/30/ "$1"; echo "${1##*/}" > "$(dirname "$0")/name"')
    )
    app = Host()
    async with app.run_test(size=(80, 60)) as pilot:
        await app.put(pilot, change_question("sub/a.txt", BEFORE, AFTER))
        await pilot.press("]", "]", "space")  # line 50 is left out, and stays so in what the editor gets
        await armed(pilot)
        await pilot.press("e")
        await armed(pilot)
        assert "edited by you" in grid(app)
        assert "30 + 30" in grid(app)
        await pilot.press("y")
        (answer,) = await app.answered()
        assert after(answer) == lines(60, line_9="nine", line_30="30")
        assert isinstance(answer, Allow)
        assert answer.comment == "the user edited the proposal; what was written is not what you proposed"
        assert (tmp_path / "name").read_text() == "a.txt\n"


@pytest.mark.usefixtures("suspending")
@pytest.mark.parametrize(
    ("script", "said"),
    [("exit 3", "ended with 3"), ("true", "Nothing was changed."), ('rm "$1"', "the edited file is gone")],
)
async def test_an_editor_that_fails_changes_nothing(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, script))
    app = Host()
    async with app.run_test(size=(150, 60)) as pilot:
        question = change_question("a.txt", BEFORE, AFTER)
        await app.put(pilot, question)
        await pilot.press("e")
        assert said in grid(app)
        await armed(pilot)
        await pilot.press("y")
        (answer,) = await app.answered()
        assert isinstance(answer, Allow)
        assert answer.proposal is question.pending.proposal


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
async def test_the_built_in_editor_keeps_line_ends(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        await app.put(pilot, change_question("a.txt", b"one" + end, b"two" + end))
        await pilot.press("e")
        await pilot.press("X", "ctrl+s")
        await armed(pilot)
        assert "edited by you" in grid(app)
        await pilot.press("y")
        assert after((await app.answered())[0]) == b"Xtwo" + end


@pytest.mark.parametrize("data", [b"a\r\nb\n", b"a\x1bb\n", "a\u2028b\n".encode(), b"a\rb\n", b"a\x0bb\n"])
async def test_the_built_in_editor_refuses_what_it_would_change(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    app = Host()
    async with app.run_test(size=(150, 40)) as pilot:
        await app.put(pilot, change_question("a.txt", None, data))
        await pilot.press("e")
        assert "set $VISUAL or $EDITOR" in grid(app)
        await pilot.press("escape")


async def test_a_file_that_changes_on_disk_is_shown_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_agent.ui.screens.review.RECHECK", 0.05)
    app = Host()
    question = change_question("a.txt", BEFORE, AFTER)
    now: list[Proposal] = []

    async def stale(pending: Pending) -> Proposal | None:
        assert pending is question.pending
        return now[0] if now else None

    app.stale = stale
    async with app.run_test(size=(100, 50)) as pilot:
        await app.put(pilot, question)
        await pilot.press("space")
        change = file_change("a.txt", BEFORE + b"61\n", AFTER + b"61\n")
        now.append(replace(question.pending.proposal, details=change))
        await until(pilot, lambda: "the file changed on disk" in grid(app))
        await armed(pilot)
        await pilot.press("y")
        assert after((await app.answered())[0]) == AFTER + b"61\n"


async def test_a_rule_answers_the_files_that_it_covers() -> None:
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        questions = [
            change_question("src/a", None, b"1\n", offer="write_file(src/**)"),
            change_question("b", None, b"2\n", offer="write_file(b)"),
            change_question("src/c", None, b"3\n", offer="write_file(src/**)"),
        ]
        await app.put(pilot, *questions)
        await pilot.press("a")
        await armed(pilot)
        await pilot.press("enter")
        await armed(pilot)
        assert "file 2 of 3" in grid(app)
        await pilot.press("n")
        one, two, three = await app.answered()
        assert isinstance(one, Allow)
        assert two == Deny("")
        assert isinstance(three, Allow)
        assert three.by == "rule"
        assert app.grants == [("write_file(src/**)", "turn")]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (None, b"\x00\x01", "A binary file: no file → 2 B"),
        (None, b"", "An empty file."),
        (b"a\n", b"", "emptied"),
        (b"a\n", b"a", "no newline at end of file"),
        (b"a\n", b"a  \n", "a··"),
        (b"a\n", "a\u202eb\n".encode(), "a⸨U+202E⸩b"),
        (b"a\n", "a\u202eb\n".encode(), "1 invisible or bidirectional character in added lines"),
        (b"a\n", b"[/] [red]x[/]\n", "[/] [red]x[/]"),
        (b"a\n", b"\x1b]52;c;eA==\x07\x9b2J\n", "␛]52;c;eA==␇⸨9B⸩2J"),
        (b"a\r\nb\r\n", b"a\r\nc\r\n", "CRLF"),
        (b"a\nb\n", b"a\r\nb\r\n", "a␍"),
    ],
)
async def test_nothing_of_a_change_is_hidden(before: bytes | None, after: bytes, shown: str) -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.put(pilot, change_question("x[/y] \x1b.txt", before, after))
        text = grid(app)
        assert shown in text
        assert "x[/y] ␛.txt" in text
        assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 for c in text)
        await pilot.press("escape")


async def test_a_change_its_tool_cannot_amend_is_taken_whole() -> None:
    app = Host()
    async with app.run_test(size=(80, 40)) as pilot:
        question = change_question("a.txt", BEFORE, AFTER)
        rigid = replace(question.pending.proposal, amend=None)
        await app.put(pilot, replace(question, pending=replace(question.pending, proposal=rigid)))
        await pilot.press("space")
        assert "only be taken whole" in grid(app)
        await armed(pilot)
        await pilot.press("y")
        assert after((await app.answered())[0]) == AFTER


async def test_search_goes_round_and_into_what_is_hidden() -> None:
    app = Host()
    async with app.run_test(size=(80, 24)) as pilot:
        await app.put(pilot, change_question("a.txt", BEFORE, AFTER))
        assert "line 20" not in grid(app)
        await pilot.press("/", *"LINE 20", "enter")
        await pilot.pause()
        assert "line 20" in grid(app)
        await pilot.press("enter", "escape")
        await pilot.press("/", *"zzz", "enter")
        assert "not found" in grid(app)
        await pilot.press("escape", "escape")


def test_the_editor_is_never_taken_from_the_folder() -> None:
    from tui_agent.ui.editor import EditorError, editor_command

    assert editor_command({}) == []
    assert editor_command({"EDITOR": "vi -u NONE", "VISUAL": ""}) == ["vi", "-u", "NONE"]
    assert editor_command({"EDITOR": "vi", "VISUAL": "code --wait"}) == ["code", "--wait"]
    with pytest.raises(EditorError):
        editor_command({"EDITOR": "vi 'x"})
    assert os.sep == "/"


@pytest.mark.parametrize("files", [1, 2, 7])
async def test_on_a_low_screen_the_diff_keeps_half_of_the_rows(files: int) -> None:
    app = Host()
    async with app.run_test(size=(60, 20)) as pilot:
        reasons = ("a change in ask mode",)
        questions = [change_question(f"{n}.txt", BEFORE, AFTER, reasons=reasons) for n in range(files)]
        await app.put(pilot, *questions)
        assert app.screen.query_one("#body").size.height >= 10
        assert "F1 all keys" in grid(app)
        await pilot.press("f1")
        await pilot.pause()
        assert "F2 conversation" in grid(app)
        assert ("Y approve all" in grid(app)) == (files > 1)
        await pilot.press("f1", "escape")


KEYS = "y approve · n deny · r reason · Esc stop the run · F2 conversation"


@pytest.mark.parametrize(
    ("width", "rows", "lines"),
    [
        (80, 2, [KEYS]),
        (50, 2, ["y approve · n deny · r reason · Esc stop the run", "F2 conversation"]),
        (40, 2, ["y approve · n deny · r reason", "Esc stop the run · F2 conversation"]),
        (40, 1, ["y approve · n deny · F1 all keys"]),
        (30, 2, ["y approve · n deny · r reason", "Esc stop the run · F1 all keys"]),
        (5, 1, ["F1 all keys"]),
    ],
)
def test_keys_stay_whole_and_the_last_ones_go_first(width: int, rows: int, lines: list[str]) -> None:
    assert laid(KEYS, width, rows) == lines
