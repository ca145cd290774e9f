from __future__ import annotations

from typing import Any

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.screen import Screen

from tui_agent.ui.messages import PromptSubmitted
from tui_agent.ui.widgets.prompt import Prompt, Sent


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

    def on_prompt_submitted(self, message: PromptSubmitted) -> None:
        self.sent.append(message.text)

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
        prompt.give_back("first")
        assert prompt.text == "first"
        prompt.give_back("second")
        assert prompt.text == "first"
        await pilot.press("up")
        assert prompt.text == "second"


async def test_keys_typed_elsewhere_join_the_draft() -> None:
    async with Host().run_test() as pilot:
        await pilot.press(*"rewrite ")
        pilot.app.prompt.type_in("the tests")
        await pilot.press("!")
        assert pilot.app.prompt.text == "rewrite the tests!"


def test_the_same_prompt_twice_in_a_row_is_remembered_once() -> None:
    sent = Sent()
    for text in ("a", "a", "b", "a"):
        sent.add(text)
    walked: list[Any] = [sent.older("draft") for _ in range(4)]
    assert walked == ["a", "b", "a", None]
    assert [sent.newer() for _ in range(4)] == ["b", "a", "draft", None]
