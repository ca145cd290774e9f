from __future__ import annotations

import asyncio
import itertools
import random
from typing import Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.strip import Strip

from tui_agent.ui.widgets import line_view
from tui_agent.ui.widgets.pieces import CallLine
from tui_agent.ui.widgets.reading import Reading
from tui_agent.ui.widgets.strips import text_of
from tui_agent.ui.widgets.transcript import Transcript


class Host(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.view = Transcript()
        self.seen: list[Any] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        self.view.focus()

    def on_reading_call_activated(self, event: Reading.CallActivated) -> None:
        self.seen.append(event.call_id)

    def on_reading_link_activated(self, event: Reading.LinkActivated) -> None:
        self.seen.append(event.url)

    def on_reading_copied(self, event: Reading.Copied) -> None:
        self.seen.append(event.text)


def shown(app: App[Any]) -> list[str]:
    return [text_of(strip).rstrip() for strip in app.screen._compositor.render_strips()]


async def settle(pilot: Pilot[Any]) -> None:
    view = pilot.app.query_one(Transcript)
    for _ in range(100):
        await pilot.pause()
        if view._timer is None and not view._sync_soon.due and not view._colouring:
            break
        await asyncio.sleep(0.02)
    else:
        raise TimeoutError
    await pilot.pause()


def wheel(view: Transcript, rows: int) -> events.Event:
    kind = events.MouseScrollUp if rows < 0 else events.MouseScrollDown
    return kind(view, 1, 1, 0, rows, 0, False, False, False)


async def test_a_turn_from_prompt_to_settled_answer() -> None:
    app = Host()
    async with app.run_test(size=(40, 16)) as pilot:
        view = app.view
        view.add_prompt("Say *hello*")
        view.stream_thinking("let me think about it")
        view.stream_text("# Title\n\nSome **bo")
        view.stream_text("ld** text")
        await settle(pilot)
        assert shown(app)[:7] == [
            "› Say *hello*",
            "",
            "  · thought, 5 words",
            "",
            "  Title",
            "",
            "  Some **bold** text",
        ]
        view.end_text()
        view.show_call("1", CallLine("read_file", "a.py", "running"))
        view.show_call("2", CallLine("run_command", "ls", "running"))
        view.show_call("1", CallLine("read_file", "a.py", "done", "3 kB"))
        await settle(pilot)
        assert shown(app)[6:11] == [
            "  Some bold text",
            "",
            "  ✓ read_file a.py  3 kB",
            "  › run_command ls",
            "",
        ]


async def test_a_delta_after_quiet_shows_at_once_and_many_are_few_repaints(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Host()
    async with app.run_test(size=(40, 10)) as pilot:
        view, flushes = app.view, 0
        work_in = view._work_in

        def counted() -> None:
            nonlocal flushes
            flushes += 1
            work_in()

        monkeypatch.setattr(view, "_work_in", counted)
        start = asyncio.get_running_loop().time()
        for number in range(200):
            view.stream_text(f"w{number} ")
            await asyncio.sleep(0.001)
            if number == 20:
                assert "w0" in shown(app)[0]
        await settle(pilot)
        assert flushes <= (asyncio.get_running_loop().time() - start) / 0.1 + 2
        assert "w199" in "".join(shown(app))


async def test_a_reader_who_scrolled_up_is_not_moved() -> None:
    app = Host()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.view
        for number in range(30):
            view.add_answer(f"paragraph {number}")
        view.show_call("c", CallLine("run_command", "sleep", "running"))
        view.stream_text("streams ")
        await settle(pilot)
        view.post_message(wheel(view, -1))
        view.post_message(wheel(view, -1))
        await settle(pilot)
        before = shown(app)
        for number in range(20):
            view.stream_text(f"more {number}\n\n")
        view.show_call("c", CallLine("run_command", "sleep", "done"))
        view.add_note("a note")
        await settle(pilot)
        after = shown(app)
        assert after[:-1] == before[:-1]
        assert after[-1].endswith("↓ new output")
        await pilot.press("end")
        view.stream_text("the very end")
        await settle(pilot)
        assert "the very end" in shown(app)[-1]
        assert not any("new output" in row for row in shown(app))


async def test_a_block_that_closes_under_the_reader_keeps_their_row() -> None:
    app = Host()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.view
        view.stream_text("```py\n" + "".join(f"line{n} = {n}\n" for n in range(300)))
        await settle(pilot)
        view.action_scroll_rows(-40)
        await settle(pilot)
        before = shown(app)[0]
        view.stream_text("```\n\nand on\n\n")
        await settle(pilot)
        assert before.strip().startswith("line")
        assert shown(app)[0] == before


async def test_sending_goes_to_the_end() -> None:
    app = Host()
    async with app.run_test(size=(40, 6)) as pilot:
        view = app.view
        for number in range(30):
            view.add_answer(f"p {number}")
        await settle(pilot)
        await pilot.press("home")
        await settle(pilot)
        assert shown(app)[0] == "  p 0"
        view.add_prompt("next")
        await settle(pilot)
        assert "› next" in shown(app)


async def test_resize_keeps_the_place_and_equals_a_fresh_view() -> None:
    app = Host()
    async with app.run_test(size=(60, 12)) as pilot:
        view = app.view
        for number in range(60):
            view.add_answer(f"Number {number}: " + "some words to wrap " * 12)
        await settle(pilot)
        view.action_scroll_rows(-100)
        await settle(pilot)
        top = next(row for row in shown(app) if "Number" in row).split(":")[0]
        await pilot.resize_terminal(40, 12)
        await settle(pilot)
        assert any(top in row for row in shown(app))
        rows = shown(app)
        view._restyle()
        await settle(pilot)
        assert shown(app) == rows
        assert view.row_count < 3000


async def test_paging_up_shows_every_row_once() -> None:
    app = Host()
    async with app.run_test(size=(30, 7)) as pilot:
        view = app.view
        for number in range(50):
            view.add_answer(f"n{number} " + "word " * (number % 9) * 3 + "\n\n- item\n- item")
        await settle(pilot)
        seen = shown(app)
        while view.top:
            view.action_scroll_rows(-1)
            await pilot.pause()
            seen.insert(0, shown(app)[0])
        numbers = [row.split()[0] for row in seen if row.strip().startswith("n")]
        assert numbers == [f"n{n}" for n in range(50)]


async def test_hostile_text_is_drawn() -> None:
    app = Host()
    hostile = "\x1b]52;c;cHdu\x07\x1b[2J \u202e[@click=app.quit]x[/]"
    async with app.run_test(size=(90, 20)) as pilot:
        view = app.view
        view.add_prompt(hostile)
        for character in hostile + "\n\n":
            view.stream_text(character)
        view.end_text()
        view.add_answer(hostile)
        view.add_note(hostile, "error", hostile)
        view.show_call("1", CallLine("tool", hostile, "failed", detail=hostile))
        view.toggle_calls()
        await settle(pilot)
        text = "\n".join(shown(app))
        assert not {"\x1b", "\u202e", "\x07"} & set(text)
        assert text.count("␛]52;c;cHdu␇") == 7
        assert text.count("[@click=app.quit]x[/]") == 7


async def test_html_and_brackets_survive() -> None:
    app = Host()
    async with app.run_test(size=(60, 6)) as pilot:
        app.view.add_answer("`Vec<String>` Vec<String> [/nope] <div>x</div>")
        await settle(pilot)
        assert shown(app)[0] == "  Vec<String> Vec<String> [/nope] <div>x</div>"


async def test_open_and_fold() -> None:
    app = Host()
    async with app.run_test(size=(40, 12)) as pilot:
        view = app.view
        view.add_thinking("deep thought")
        view.show_call("1", CallLine("read_file", "a.py", "done", detail="first\nsecond"))
        await settle(pilot)
        await pilot.press("enter")
        assert shown(app)[2:5] == ["  ✓ read_file a.py", "      first", "      second"]
        await pilot.press("enter")
        assert shown(app)[2:4] == ["  ✓ read_file a.py", ""]
        await pilot.press("e")
        assert "    deep thought" in shown(app)
        await pilot.press("K", "l")
        await pilot.pause()
        assert app.seen == ["1"]


async def test_a_long_fence_opens_with_enter() -> None:
    app = Host()
    async with app.run_test(size=(40, 12)) as pilot:
        view = app.view
        view.stream_text("```\n" + "".join(f"l{n}\n" for n in range(200)) + "```\n")
        view.end_text()
        await settle(pilot)
        assert shown(app)[-1] == "  … 140 more lines · Enter shows all"
        await pilot.press("enter", "end")
        await settle(pilot)
        assert shown(app)[-1] == "   l199"


async def test_search_goes_from_hit_to_hit() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        view = app.view
        for number in range(100):
            view.add_answer(f"para {number}\n\n" + ("needle here" if number in (3, 40, 80) else "hay"))
        await settle(pilot)
        assert view.find("NEEDLE") == (1, 3)
        await settle(pilot)
        assert any("needle here" in row for row in shown(app))
        assert view.find("needle") == (2, 3) or view.find("needle")[1] == 3
        await pilot.press("N")
        assert view.find("absent") == (0, 0)
        marked = [
            s
            for strip in app.screen._compositor.render_strips()
            for s in strip
            if s.style and s.style.reverse
        ]
        assert not marked


async def test_hits_are_marked() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        app.view.add_answer("one needle two")
        app.view.find("needle")
        await settle(pilot)
        strips = app.screen._compositor.render_strips()
        assert [s.text for s in strips[0] if s.style and s.style.reverse] == ["needle"]


async def test_prompts_are_walked() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        for number in range(10):
            app.view.add_prompt(f"prompt {number}")
            app.view.add_answer("text\n\n" * 10)
        await settle(pilot)
        await pilot.press("left_square_bracket", "left_square_bracket")
        await settle(pilot)
        assert any("prompt 8" in row for row in shown(app))
        await pilot.press("right_square_bracket")
        await settle(pilot)
        assert any("prompt 9" in row for row in shown(app))


async def test_copy_gives_the_source() -> None:
    app = Host()
    source = "Text that is wrapped, with **marks** and https://example.org/" + "x" * 60
    async with app.run_test(size=(40, 12)) as pilot:
        app.view.add_answer(source)
        await settle(pilot)
        await pilot.press("y")
        await pilot.pause()
        assert app.seen == [source]


async def test_rows_are_selected_and_copied_without_breaks_or_marks() -> None:
    app = Host()
    async with app.run_test(size=(30, 12)) as pilot:
        app.view.add_answer("- " + "word " * 12 + "end\n\n```\ncode = 1\n```")
        await settle(pilot)
        await pilot.press("v")
        for _ in range(5):
            await pilot.press("k")
        await pilot.press("y")
        await pilot.pause()
        assert app.seen == ["- " + "word " * 12 + "end\n\ncode = 1"]
        assert app.screen.get_selected_text() is None


async def test_a_click_on_an_address_tells_the_whole_of_it_and_opens_nothing() -> None:
    app = Host()
    url = "https://example.org/" + "y" * 50
    async with app.run_test(size=(30, 12)) as pilot:
        app.view.add_answer(f"[docs]({url}) and [bad](file:///etc/passwd)")
        await settle(pilot)
        row = next(i for i, text in enumerate(shown(app)) if "yyy" in text)
        await pilot.click(app.view, offset=(10, row))
        await pilot.pause()
        assert app.seen == [url]
        bad = next(i for i, text in enumerate(shown(app)) if "file:" in text)
        await pilot.click(app.view, offset=(shown(app)[bad].index("file:") + 1, bad))
        await pilot.pause()
        assert app.seen == [url]


async def test_pressing_and_dragging_during_a_stream_is_harmless() -> None:
    app = Host()
    async with app.run_test(size=(40, 10)) as pilot:
        view = app.view
        await pilot.mouse_down(view, offset=(2, 1))
        for number in range(30):
            view.stream_text(f"- item {number}\n" if number % 5 else "\n\npara\n\n")
            view._flush()
            await pilot.hover(view, offset=(number % 30, number % 10))
        await pilot.mouse_up(view, offset=(5, 5))
        view.end_text()
        await settle(pilot)
        assert "item 29" in "".join(shown(app))


async def test_every_partial_repaint_equals_a_full_one() -> None:
    app = Host()
    source = (
        "# H\n\ntext `c` text\n\n- a\n- b\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```py\nx = 1\n```\n\nend " * 4
    )
    async with app.run_test(size=(30, 9)) as pilot:
        for at in range(0, len(source), 9):
            app.view.stream_text(source[at : at + 9])
            app.view._flush()
            await settle(pilot)
            partly = [list(strip) for strip in app.screen._compositor.render_strips()]
            app.view._restyle()
            await pilot.pause()
            assert [list(strip) for strip in app.screen._compositor.render_strips()] == partly


async def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from tui_agent.ui.widgets import piece_view

    monkeypatch.setattr(piece_view, "MOST", 50)
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        for number in range(120):
            app.view.add_answer(f"p {number}")
        await settle(pilot)
        assert len(app.view.pieces) <= 50
        assert shown(app)[-1] == "  p 119"
        assert len(app.view._kept) <= piece_view.KEPT


async def test_clear_in_the_middle_of_a_stream() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        app.view.stream_text("abc")
        await settle(pilot)
        app.view.stream_text("def")
        app.view.clear()
        app.view.stream_text("new")
        await settle(pilot)
        assert shown(app)[0] == "  new"
        assert not any("abc" in row for row in shown(app))


async def test_big_code_is_coloured_from_a_thread() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        app.view.add_answer("```python\n" + "x = 'a string'\n" * 600 + "```")
        await settle(pilot)
        view = app.view
        assert shown(app)[0] == "   x = 'a string'" or "more lines" in shown(app)[-1]
        strip = app.screen._compositor.render_strips()[0]
        assert len({s.style.color for s in strip if s.style and s.text.strip()}) > 1
        assert view.pieces[0].strips


async def test_a_piece_that_cannot_be_laid_out_shows_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    from tui_agent.ui.widgets import pieces

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(pieces, "markdown_rows", broken)
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        app.view.add_prompt("question")
        app.view.add_answer("**answer**")
        await settle(pilot)
        assert shown(app)[:3] == ["› question", "", "  **answer**"]


async def test_a_row_that_cannot_be_drawn_says_so_and_the_rest_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    faults: list[BaseException] = []
    monkeypatch.setattr(line_view.crash, "report", lambda error, redact: faults.append(error))
    app = Host()
    async with app.run_test(size=(70, 10)) as pilot:
        view, draw = app.view, app.view.draw

        def broken(index: int, y: int) -> Strip:
            if index == 1:
                raise KeyError
            return draw(index, y)

        monkeypatch.setattr(view, "draw", broken)
        for text in ("one", "two", "three"):
            view.add_prompt(text)
        await settle(pilot)
        fault = "✗ This can't be drawn (KeyError): a fault of the program."
        assert shown(app)[:5] == ["› one", fault, fault, "", "› three"]
        view.add_prompt("four")
        await settle(pilot)
        assert "› four" in shown(app)
    assert [type(error) for error in faults] == [KeyError]  # one report, not one a row


async def test_a_view_that_cannot_be_laid_out_says_so_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_view.crash, "report", lambda error, redact: "")
    app = Host()
    async with app.run_test(size=(70, 6)) as pilot:
        app.view.add_prompt("one")
        await settle(pilot)
        with monkeypatch.context() as broken:
            broken.setattr(app.view, "settle_around", lambda *_: 1 / 0)
            app.view.add_prompt("two")
            await settle(pilot)
            assert shown(app)[0].startswith("✗ This can't be drawn (ZeroDivisionError)")
        app.view.add_prompt("three")
        await settle(pilot)
        assert shown(app)[:5] == ["› one", "", "› two", "", "› three"]


async def test_o_asks_about_one_address_after_the_other() -> None:
    app = Host()
    async with app.run_test(size=(60, 12), notifications=True) as pilot:
        app.view.add_prompt("see https://first.example/a.")
        app.view.add_answer(
            "[docs](https://one.example/x_(y)) or <https://two.example/?q=1>, ssh://no.example"
        )
        await settle(pilot)
        await pilot.press("o", "o", "o")
        assert app.seen == [
            "https://one.example/x_(y)",
            "https://two.example/?q=1",
            "https://one.example/x_(y)",
        ]
        await pilot.press("K", "K", "o")
        assert app.seen[3:] == ["https://first.example/a"]
        app.view.clear()
        app.view.add_answer("vscode://x and file:///etc/passwd")
        await settle(pilot)
        await pilot.press("o")
        assert len(app.seen) == 4


async def test_the_language_of_a_fence_shows_dimly_and_is_no_part_of_the_text() -> None:
    app = Host()
    async with app.run_test(size=(40, 12)) as pilot:
        source = "```python title=x\nprint(1)\nprint(2)\n"
        app.view.stream_text(source)
        await settle(pilot)
        live = shown(app)
        app.view.stream_text("```\n")
        app.view.end_text()
        await settle(pilot)
        assert shown(app) == live
        assert live[0] == "   print(1)" + " " * 22 + "python"
        assert "python" not in live[1]
        await pilot.press("J", "v", "j", "y")
        assert app.seen == ["print(1)\nprint(2)"]
        label = app.screen._compositor.render_strips()[0]._segments[-1]
        assert label.text.strip() == "python"


async def test_a_note_above_the_text_that_is_read_does_not_move_it() -> None:
    app = Host()
    async with app.run_test(size=(40, 8)) as pilot:
        view = app.view
        view.stream_text("- item\n" * 30 + "".join(f"- number {n}\n" for n in range(30)))
        await settle(pilot)
        view.action_scroll_rows(-10)
        await settle(pilot)
        before = shown(app)[0]
        view.add_note("a note that goes above")
        await settle(pilot)
        assert before.startswith("  - number")
        assert shown(app)[0] == before


async def test_a_selection_ends_where_its_rows_get_other_numbers_and_not_before() -> None:
    app = Host()
    async with app.run_test(size=(40, 12)) as pilot:
        view = app.view
        view.show_call("1", CallLine("read_file", "a.py", "done", detail="x"))
        view.add_answer("some text")
        await settle(pilot)
        await pilot.mouse_down(view, offset=(2, 2))
        await pilot.hover(view, offset=(5, 2))
        await pilot.mouse_up(view, offset=(5, 2))
        await pilot.pause()
        assert app.screen.get_selected_text() == "some"
        view.add_answer("more")
        await settle(pilot)
        assert app.screen.get_selected_text() == "some"
        view.toggle_calls()
        view.toggle(view.pieces[0])
        await settle(pilot)
        assert app.screen.get_selected_text() is None


@pytest.mark.parametrize("seed", range(8))
async def test_any_mix_of_doings_paints_what_a_fresh_view_would(seed: int) -> None:
    rng = random.Random(seed)
    app = Host()
    source = (
        "# H\n\ntext `c` 日本語 text\n\n- a\n- b\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n```py\nx = 1\n```\n\n"
    )
    async with app.run_test(size=(40, 9)) as pilot:
        view = app.view
        for number in range(120):
            match rng.randrange(13):
                case 0:
                    view.add_prompt(f"prompt {number} " + "word " * rng.randrange(30))
                case 1:
                    view.show_call(f"c{number}", CallLine("read_file", f"f{number}.py", detail="a\nb\nc"))
                case 2:
                    view.show_call(f"c{rng.randrange(max(1, number))}", CallLine("run", "x", "done"))
                case 3:
                    view.end_text(rng.choice([None, "cut"]))
                case 4:
                    view.stream_thinking("hm " * rng.randrange(5))
                case 5:
                    view.add_note("note")
                case 6:
                    view.action_scroll_rows(rng.randrange(-30, 30))
                case 7:
                    await pilot.resize_terminal(rng.choice([1, 7, 30, 40, 60]), rng.choice([1, 5, 9, 14]))
                case 8:
                    view.action_open()
                case 9:
                    view.find(rng.choice(["text", "prompt", ""]), rng.choice([1, -1]))
                case 10:
                    view.action_move_cursor(rng.choice([1, -1]))
                case 11 if (end := view.pieces[-6:]) and not number % 3:
                    gone = view.cut(rng.choice(end))
                    assert not set(gone) & {*view.pieces, *view._kept, *view._calls.values()}
                case _:
                    at = rng.randrange(len(source))
                    view.stream_text(source[at : at + rng.randrange(40)])
                    view._flush()
            await pilot.pause()
            if number % 10 == 9:
                await settle(pilot)
                partly = [list(strip) for strip in app.screen._compositor.render_strips()]
                view._restyle()
                await settle(pilot)
                assert [list(strip) for strip in app.screen._compositor.render_strips()] == partly
        view.end_text()
        await settle(pilot)
        assert view._starts == [0, *itertools.accumulate(piece.height for piece in view.pieces)]
