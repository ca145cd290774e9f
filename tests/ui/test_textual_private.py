"""What we use of Textual that it does not promise: a new version that lacks it fails here, and says where."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.app import App
from textual.dom import DOMNode
from textual.drivers.linux_driver import LinuxDriver
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (App, "_on_app_blur"),
        (App, "_on_app_focus"),
        (App, "_close_messages_no_wait"),
        (App, "_print_error_renderables"),
        (App, "_fatal_error"),
        (App, "refresh_css"),
        (App, "set_keymap"),
        (LinuxDriver, "_get_terminal_size"),
        (LinuxDriver, "run_input_thread"),
        (Screen, "_get_breakpoint_classes"),
        (Screen, "_modal_binding_chain"),
        (Screen, "_screen_resized"),
        (TextArea, "_refresh_size"),
        (TextArea, "_on_paste"),
        (Widget, "render_lines"),
        (Widget, "set_reactive"),
    ],
)
def test_it_is_there(owner: type[Any], name: str) -> None:
    assert inspect.getattr_static(owner, name) is not None


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        (App, "_exception"),
        (App, "_screen_stacks"),
        (MessagePump, "_is_mounted"),
        (Strip, "_segments"),
        (DOMNode, "_component_styles"),
        (Widget, "_layout_required"),
    ],
)
def test_it_is_set(owner: type[Any], name: str) -> None:
    assert f"self.{name}" in inspect.getsource(owner.__init__)


def test_rows_are_asked_for_where_we_hand_them_out() -> None:
    """Containers that paint nothing, and views that hand out their own rows, rely on this one call."""
    assert "widget.render_lines(" in inspect.getsource(Compositor._get_renders)
    assert "zip(render_region.line_range, strips)" in inspect.getsource(Compositor._render_chops)
