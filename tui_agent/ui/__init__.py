"""The full-screen interface.

Textual reads its frame rate when it is first imported, so it is set here, before that can happen: a key
that falls between two frames waits for the next tick, and nothing paints more often because of it.
"""

import os

os.environ.setdefault("TEXTUAL_FPS", "250")
