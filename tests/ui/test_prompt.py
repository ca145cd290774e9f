from __future__ import annotations

import time
from typing import Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.screen import Screen

from tui_agent.ui.drafts.draft import Draft
from tui_agent.ui.widgets.prompt import Prompt


class Desk(Screen[None]):
    """What the prompt asks of the main screen."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def compose(self) -> ComposeResult:
        yield Prompt(id="prompt")

    def action_help(self) -> None:
        self.asked.append("help")

    def action_quit(self) -> None:
        self.asked.append("quit")

    def action_climb(self, ladder: str) -> None:
        self.asked.append(ladder)

    def action_scroll_conversation(self, how: str) -> None:
        self.asked.append(how)

    def action_next_pane(self) -> None:
        self.asked.append("next pane")


class Host(App[None], inherit_bindings=False):
    CSS = "Prompt { height: auto; max-height: 5; border: none; }"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def get_default_screen(self) -> Screen[None]:
        return Desk()

    def on_ready(self) -> None:
        self.prompt.send = lambda draft: self.sent.append(draft.whole)

    @property
    def prompt(self) -> Prompt:
        return self.screen.query_one(Prompt)

    @property
    def asked(self) -> list[str]:
        assert isinstance(self.screen, Desk)
        return self.screen.asked


async def test_enter_sends_and_empties() -> None:
    async with Host().run_test() as pilot:
        await pilot.press(*"fix it", "enter")
        assert pilot.app.sent == ["fix it"]
        assert pilot.app.prompt.text == ""


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
async def test_a_blank_prompt_is_not_sent(text: str) -> None:
    async with Host().run_test() as pilot:
        pilot.app.prompt.put(text)
        await pilot.press("enter")
        assert pilot.app.sent == []


@pytest.mark.parametrize("key", ["shift+enter", "ctrl+j", "alt+enter", "ctrl+enter"])
async def test_newline_keys_break_the_line(key: str) -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", key, "b", "enter")
        assert pilot.app.sent == ["a\nb"]


async def test_a_backslash_before_enter_breaks_the_line_anywhere() -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", "b", "left", "backslash", "enter", "enter")
        assert pilot.app.sent == ["a\nb"]


async def test_up_and_down_walk_through_what_was_sent_and_keep_the_draft() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press(*"one", "enter", *"two", "enter", *"draft")
        await pilot.press("up")
        assert prompt.text == "two"
        await pilot.press("up", "up", "up")
        assert prompt.text == "one"
        await pilot.press("down", "down")
        assert prompt.text == "draft"
        await pilot.press("down")
        assert prompt.text == "draft"


async def test_up_moves_within_lines_first() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press(*"sent", "enter", "a", "ctrl+j", "b", "up")
        assert prompt.text == "a\nb"
        assert prompt.cursor_location[0] == 0
        await pilot.press("up")
        assert prompt.text == "sent"


async def test_a_wrapped_line_counts_as_rows() -> None:
    async with Host().run_test(size=(20, 10)) as pilot:
        prompt = pilot.app.prompt
        await pilot.press(*"sent", "enter", *"word word word word word")
        await pilot.press("up")
        assert prompt.text.startswith("word")
        await pilot.press("up")
        assert prompt.text == "sent"


async def test_ctrl_d_deletes_in_text_and_quits_when_empty() -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", "b", "home", "ctrl+d")
        assert pilot.app.prompt.text == "b"
        assert pilot.app.asked == []
        await pilot.press("ctrl+d")
        assert pilot.app.prompt.text == ""
        await pilot.press("ctrl+d")
        assert pilot.app.asked == ["quit"]


async def test_a_question_mark_asks_for_help_only_when_empty() -> None:
    async with Host().run_test() as pilot:
        await pilot.press("question_mark")
        assert pilot.app.asked == ["help"]
        assert pilot.app.prompt.text == ""
        await pilot.press("a", "question_mark")
        assert pilot.app.prompt.text == "a?"


@pytest.mark.parametrize(("key", "asked"), [("ctrl+c", "ctrl_c"), ("f6", "next pane")])
async def test_keys_of_the_main_screen_win_over_the_text_area(key: str, asked: str) -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", "b", key)
        assert pilot.app.asked == [asked]
        assert pilot.app.prompt.selected_text == ""


async def test_escape_leaves_draft_and_focus() -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", "escape", "b")
        assert pilot.app.prompt.text == "ab"


async def test_page_keys_scroll_the_conversation_unless_the_draft_scrolls() -> None:
    async with Host().run_test() as pilot:
        await pilot.press("a", "pageup", "pagedown")
        assert pilot.app.asked == ["page_up", "page_down"]
        pilot.app.prompt.put("\n".join("abcdefghij"))
        await pilot.pause()
        await pilot.press("pageup")
        assert len(pilot.app.asked) == 2
        assert pilot.app.prompt.cursor_location[0] < 9


async def test_it_grows_with_its_text_up_to_its_limit() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        assert prompt.size.height == 1
        await pilot.press("a", "ctrl+j", "b")
        await pilot.pause()
        assert prompt.size.height == 2
        prompt.put("\n".join("abcdefghij"))
        await pilot.pause()
        assert prompt.size.height == 5


async def test_a_paste_is_one_insertion_and_acts_on_nothing() -> None:
    async with Host().run_test() as pilot:
        pilot.app.post_message(events.Paste("one\ntwo \x1b[2J\x07end"))
        await pilot.pause()
        assert pilot.app.prompt.text == "one\ntwo ␛[2J␇end"
        assert pilot.app.sent == []
        await pilot.press("ctrl+z")
        assert pilot.app.prompt.text == ""


async def test_a_returned_prompt_never_overwrites_a_draft() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        prompt.give_back(Draft("first"))
        assert prompt.text == "first"
        prompt.give_back(Draft("second"))
        assert prompt.text == "first"
        await pilot.press("up")
        assert prompt.text == "second"


async def test_keys_typed_elsewhere_join_the_draft() -> None:
    async with Host().run_test() as pilot:
        await pilot.press(*"rewrite ")
        pilot.app.prompt.type_in("the tests")
        await pilot.press("!")
        assert pilot.app.prompt.text == "rewrite the tests!"


LONG = "\n".join(f"line {number}" for number in range(240))


async def paste(pilot: Any, text: str) -> None:
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()


async def test_a_long_paste_folds_into_a_chip_and_is_sent_exactly() -> None:
    async with Host().run_test() as pilot:
        await pilot.press(*"see ")
        await paste(pilot, LONG + "\x1b[2J\n")
        await pilot.press(*" fix it")
        assert pilot.app.prompt.text == "see [pasted 240 lines, 2.1 KB] fix it"
        await pilot.press("enter")
        assert pilot.app.sent == [f"see {LONG}\x1b[2J\n fix it"]
        await pilot.press("up")
        assert pilot.app.prompt.text == "see [pasted 240 lines, 2.1 KB] fix it"
        await pilot.press("enter")
        assert pilot.app.sent[1] == pilot.app.sent[0]


@pytest.mark.parametrize("text", ["x" * 1001, "\n" * 10])
async def test_what_is_over_a_limit_is_folded(text: str) -> None:
    async with Host().run_test() as pilot:
        await paste(pilot, text)
        assert pilot.app.prompt.text.startswith("[pasted ")
        assert pilot.app.prompt.draft.whole == text


@pytest.mark.parametrize("text", ["x" * 1000, "\n" * 9 + "x"])
async def test_what_is_within_the_limits_is_not_folded(text: str) -> None:
    async with Host().run_test() as pilot:
        await paste(pilot, text)
        assert pilot.app.prompt.text == text


async def test_two_pastes_that_look_alike_are_kept_apart() -> None:
    async with Host().run_test() as pilot:
        one, two = "a" * 2000, "b" * 2000
        for text in (one, two, one):
            await paste(pilot, text)
        await pilot.press("enter")
        assert pilot.app.sent == [one + two + one]


async def test_a_chip_is_deleted_whole_and_comes_back_by_undo() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press("a")
        await paste(pilot, LONG)
        await pilot.press("backspace")
        assert prompt.text == "a"
        assert prompt.draft.pastes == {}
        await pilot.press("ctrl+z")
        assert prompt.draft.whole == f"a{LONG}"
        await pilot.press("home", "right", "delete")
        assert prompt.text == "a"


async def test_typing_inside_a_chip_goes_behind_it() -> None:
    async with Host().run_test() as pilot:
        await paste(pilot, LONG)
        await pilot.press("left", "left", "left", "x", "enter")
        assert pilot.app.sent == [f"{LONG}x"]


async def test_a_selection_that_cuts_a_chip_takes_all_of_it() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press(*"ab")
        await paste(pilot, LONG)
        await pilot.press("home", "right", *["shift+right"] * 4, "X")
        assert prompt.text == "aX"


async def test_a_paste_and_enter_at_once_send_all_of_it() -> None:
    async with Host().run_test() as pilot:
        text = "word " * 40_000
        pilot.app.post_message(events.Paste(text))
        pilot.app.post_message(events.Key("enter", "\r"))
        await pilot.pause()
        assert pilot.app.sent == [text]


async def test_keys_stay_quick_beside_a_huge_paste_on_one_line() -> None:
    async with Host().run_test(size=(120, 30)) as pilot:
        await paste(pilot, "word " * 40_000)
        took = []
        for _ in range(20):
            began = time.process_time()
            await pilot.press("x")
            took.append(time.process_time() - began)
        assert sorted(took)[len(took) // 2] < 0.05


async def test_a_huge_text_that_is_put_into_the_box_is_folded_too() -> None:
    async with Host().run_test() as pilot:
        text = "word " * 40_000
        pilot.app.prompt.put(text)
        assert len(pilot.app.prompt.text) < 100
        await pilot.press("enter")
        assert pilot.app.sent == [text]


async def test_the_pasted_path_of_a_picture_becomes_a_mention() -> None:
    async with Host().run_test() as pilot:
        await paste(pilot, "'/home/me/my shot.png'\n")
        assert pilot.app.prompt.text == '@"/home/me/my shot.png" '


async def test_enter_can_be_set_to_break_the_line() -> None:
    async with Host().run_test() as pilot:
        pilot.app.prompt.enter_sends = False
        await pilot.press("a", "enter", "b", "alt+enter")
        assert pilot.app.sent == ["a\nb"]
        await pilot.press("c", "ctrl+s")
        assert pilot.app.sent == ["a\nb", "c"]


async def test_what_is_taken_up_leaves_the_draft_in_the_history() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press(*"draft")
        prompt.take_up(Draft("queued"))
        assert prompt.text == "queued"
        await pilot.press("up")
        assert prompt.text == "draft"


async def test_up_that_was_pressed_before_the_history_came_brings_its_newest() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press("up")
        assert prompt.text == ""
        prompt.past.begin_with([Draft("older"), Draft("newer")])
        prompt.past_came()
        assert prompt.text == "newer"


async def test_what_was_typed_meanwhile_stays_when_the_history_comes() -> None:
    async with Host().run_test() as pilot:
        prompt = pilot.app.prompt
        await pilot.press("up", "a")
        prompt.past.begin_with([Draft("older")])
        prompt.past_came()
        assert prompt.text == "a"
