"""Text fields whose keys take effect in the order in which they were pressed.

Textual hands a letter to the field at once but lets a key with a binding (Backspace, Left, new line) rise to
the app first and come back from there. In a burst, from a slow link or a key that repeats, `ab⌫c` would
become `bc` or worse. A field that mixes this in, before its Textual class, acts on its own bindings itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events

if TYPE_CHECKING:
    from textual.widget import Widget
else:
    Widget = object  # of two widget bases, Textual takes styles and bindings from the first alone


class InOrder(Widget):
    async def _on_key(self, event: events.Key) -> None:
        chain = self.screen._modal_binding_chain
        if not chain or chain[0][0] is not self:  # the focus has moved on since the key was pressed
            return
        for binding in chain[0][1].key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
