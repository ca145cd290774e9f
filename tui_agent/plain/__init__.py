"""`tui-agent --plain`: the conversation as lines that are only ever appended.

For screen readers, dumb terminals and anything that records: no full screen, no cursor movement, no colour.
A prompt is a line, an answer to a question is a word, Ctrl+C stops the run, Ctrl+D quits.
"""

from __future__ import annotations

from tui_agent.plain.conversation import run

__all__ = ["run"]
