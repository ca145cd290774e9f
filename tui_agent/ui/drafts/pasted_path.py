"""The path of a picture that was pasted or dropped into the terminal, as a mention that attaches it.

Terminals write such a path in their own ways: bare, in quotes, with backslashes before spaces, as a URL.
Whether there is a picture is found out when it is sent; here nothing touches the disk.
"""

from __future__ import annotations

import re
import shlex
from urllib.parse import unquote, urlsplit

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def as_mention(pasted: str) -> str | None:
    """`@path` for the pasted path of a picture, None for any other text."""
    text = pasted.strip()
    if "\n" in text or not text.rstrip("'\"").lower().endswith(PICTURES):
        return None
    if text.startswith("file://"):
        path = unquote(urlsplit(text).path)
    else:
        try:
            words = shlex.split(text)
        except ValueError:
            return None
        if len(words) != 1:
            words = [text] if text.startswith("/") else []
        path = words[0] if words else ""
    if not path.startswith(("/", "~/")) or not path.isprintable():
        return None
    return mention(path) + " "


def mention(path: str) -> str:
    """How a path is mentioned so that it is attached."""
    return f'@"{path}"' if re.search(r"\s", path) else f"@{path}"
