"""Every key of the main screen, once: bindings and the help screen are made from these tables.

`Key` rows become Textual bindings (`bindings("screen")`, `bindings("prompt")`, …); their ids are what a
keymap refers to. The two ladders say what Escape and Ctrl+C do: the first rung that finds something to do
ends the climb. A rung names a method of the main screen that returns whether it did something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Protocol

from textual.binding import Binding

Place = Literal["screen", "prompt", "queue", "conversation", "tool log", "changes"]


@dataclass(frozen=True)
class Key:
    """`keys` as Textual spells them, `label` as people do. Without `action` a widget of Textual acts.

    `hint` is the word that the line of keys has for it; that line is short, so few have one.
    """

    keys: str
    label: str
    does: str
    action: str = ""
    place: Place = "screen"
    hint: str = ""

    @property
    def id(self) -> str:
        """What the settings call it: `next_mode`, `tool_log_open`."""
        action = (
            self.action.removeprefix("app.").replace("climb", "").replace("-1", "back").replace("1", "on")
        )
        name = re.sub(r"\W+", "_", action).strip("_")
        return name if self.place in ("screen", "prompt") else f"{self.place}_{name}".replace(" ", "_")


KEYS: tuple[Key, ...] = (
    Key("enter", "Enter", "send", place="prompt", hint="send"),
    Key(
        "shift+enter,ctrl+j,ctrl+enter",
        r"Shift+Enter, Ctrl+J, Alt+Enter, \ Enter",
        "new line",
        "new_line",
        "prompt",
        "new line",
    ),
    Key("alt+enter", "", "", "alt_enter", "prompt"),
    Key("ctrl+s", "Ctrl+S", "send, also where Enter is set to break the line", "submit", "prompt"),
    Key("up,down", "Up, Down", "move; at the first and last line: earlier prompts", place="prompt"),
    Key("ctrl+d", "Ctrl+D", "quit when the prompt is empty, else delete", "delete_or_quit", "prompt"),
    Key("ctrl+z,ctrl+y", "Ctrl+Z, Ctrl+Y", "undo, redo", place="prompt"),
    Key("", "@path", "attach a file, a folder or a picture", place="prompt", hint="attach"),
    Key("", "/name", "call a command", place="prompt", hint="command"),
    Key("", "!command", "run a shell command; !! keeps it from the model", place="prompt"),
    Key("enter,e", "Enter, e", "edit the message", "edit", "queue", "edit"),
    Key("d,delete,backspace", "d", "delete it", "delete", "queue", "delete"),
    Key("t,space", "t", "send it now, or after the turn", "wait", "queue", "now or later"),
    Key("shift+up,alt+up,K", "Shift+Up/Down", "move it", "shift(-1)", "queue", "move"),
    Key("shift+down,alt+down,J", "", "", "shift(1)", "queue"),
    Key("up,k", "Up, Down", "choose", "choose(-1)", "queue"),
    Key("down,j", "", "", "choose(1)", "queue"),
    Key("escape", "Escape", "stop; see below", "climb('escape')"),
    Key("ctrl+c,super+c", "Ctrl+C", "copy or stop; see below", "climb('ctrl_c')"),
    Key("shift+tab", "Shift+Tab", "next mode", "next_mode", hint="mode"),
    Key("f1", "F1, ? (prompt empty)", "this help", "help", hint="help"),
    Key("f2", "F2", "conversation", "pane('conversation')", hint="conversation"),
    Key("f3", "F3", "tool log", "pane('tool_log')", hint="tool log"),
    Key("f4", "F4", "changes", "pane('changes')", hint="changes"),
    Key("f5", "F5", "messages that wait for the run", "queue"),
    Key("f6,tab", "F6, Tab", "next pane", "next_pane"),
    Key("ctrl+r", "Ctrl+R", "search earlier prompts", "search_past"),
    Key("ctrl+g", "Ctrl+G", "write in your editor ($VISUAL, $EDITOR)", "edit_outside"),
    Key("ctrl+o", "Ctrl+O", "expand or fold tool calls", "toggle_calls"),
    Key("ctrl+t", "Ctrl+T", "show or hide the tool log and the changes", "toggle_side"),
    Key("", "PageUp, PageDown", "scroll what has the focus"),
    Key(
        "ctrl+pageup,pageup",
        "Ctrl+PageUp/PageDown",
        "scroll the conversation",
        "scroll_conversation('page_up')",
    ),
    Key("ctrl+pagedown,pagedown", "", "", "scroll_conversation('page_down')"),
    Key("ctrl+home", "Ctrl+Home/End", "its start and end", "scroll_conversation('home')"),
    Key("ctrl+end", "", "", "scroll_conversation('end')"),
    Key("ctrl+p", "Ctrl+P", "command palette", "app.command_palette"),
    Key("ctrl+q", "Ctrl+Q", "quit", "quit"),
    Key("enter,space", "Enter", "open or fold the block", "open", "conversation", "open"),
    Key("J,shift+down", "J, K", "next and previous block", "move_cursor(1)", "conversation"),
    Key("K,shift+up", "", "", "move_cursor(-1)", "conversation"),
    Key(
        "left_square_bracket",
        "[ ]",
        "previous and next prompt",
        "go_to_prompt(-1)",
        "conversation",
        "prompts",
    ),
    Key("right_square_bracket", "", "", "go_to_prompt(1)", "conversation"),
    Key("y,c", "y", "copy the block, the selection or the last answer", "copy", "conversation", "copy"),
    Key("v", "v", "select rows: j and k extend, y copies", "select_rows", "conversation", "select"),
    Key("slash", "/", "search", "search", "conversation", "search"),
    Key("n", "n, N", "next and previous hit", "next_hit(1)", "conversation"),
    Key("N", "", "", "next_hit(-1)", "conversation"),
    Key("e", "e", "open or fold all", "toggle_all", "conversation"),
    Key("l", "l", "show the call in the tool log", "activate", "conversation"),
    Key("o", "o", "open a web address; shows the whole of it and asks", "open_address", "conversation"),
    Key("enter,space", "Enter", "open or fold the call", "open", "tool log", "open"),
    Key(
        "x",
        "x",
        "stop the running call or the background command; asks first",
        "stop_entry",
        "tool log",
        "stop",
    ),
    Key("d", "d", "read the diff of a change", "show_change", "tool log", "diff"),
    Key("y", "y", "copy the call", "copy", "tool log", "copy"),
    Key("e", "e", "open or fold all", "open_all", "tool log"),
    Key("l", "l", "show the call in the conversation", "locate", "tool log"),
    Key("slash", "/", "filter by tool, state or text", "filter", "tool log", "filter"),
    Key("enter", "Enter", "read the diff", "open", "changes", "read"),
    Key(
        "b", "b", "compare with the start of the session, or of the latest turn", "since", "changes", "since"
    ),
    Key("u", "u", "undo the hunk, the file, its last call or turn; asks first", "undo", "changes", "undo"),
)


def bindings(place: Place) -> list[Binding]:
    """The bindings of a place, for `BINDINGS`. Those of the screen may be taken over by its widgets."""
    return [
        Binding(
            key.keys,
            f"screen.{key.action}" if place == "screen" and "." not in key.action else key.action,
            key.does,
            show=False,
            id=key.id,
        )
        for key in KEYS
        if key.place == place and key.action
    ]


class Climber(Protocol):
    """What the ladders need of the main screen. Each returns whether there was something to do."""

    def close_field(self) -> bool: ...
    def cancel_run(self) -> bool: ...
    def copy_selection(self) -> bool: ...
    def drop_selection(self) -> bool: ...
    def clear_draft(self) -> bool: ...
    def return_to_prompt(self) -> bool: ...
    def quit_if_again(self) -> bool: ...


Step = Literal[
    "close_field",
    "cancel_run",
    "copy_selection",
    "drop_selection",
    "clear_draft",
    "return_to_prompt",
    "quit_if_again",
]


@dataclass(frozen=True)
class Rung:
    step: Step
    when: str
    does: str


ESCAPE: tuple[Rung, ...] = (
    Rung("close_field", "a text field or popup has the focus", "close it"),
    Rung("cancel_run", "a run is on", "cancel it"),
    Rung("drop_selection", "something is selected", "clear the selection"),
    Rung("return_to_prompt", "a pane has the focus", "back to the prompt"),
)

CTRL_C: tuple[Rung, ...] = (
    Rung("copy_selection", "something is selected", "copy it"),
    Rung("cancel_run", "a run is on", "cancel it"),
    Rung("clear_draft", "the prompt has text", "clear it"),
    Rung("quit_if_again", "idle", "quit, when pressed twice"),
)

Ladder = Literal["escape", "ctrl_c"]
LADDERS: dict[Ladder, tuple[Rung, ...]] = {"escape": ESCAPE, "ctrl_c": CTRL_C}


def climb(ladder: Ladder, climber: Climber) -> Step | None:
    """Do the first rung that applies, and say which it was."""
    for rung in LADDERS[ladder]:
        if getattr(climber, rung.step)():
            return rung.step
    return None
