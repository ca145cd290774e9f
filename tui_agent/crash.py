"""A crash as one line for the person and a private report for whoever looks into it.

The report has the traceback with its source lines and never the values of variables: a frame could hold the
key or the text of a file. What looks like a secret is replaced in it, the key's value in any case.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable

from tui_agent import __version__, paths

KEPT = 20

_SECRET_SHAPES = re.compile(
    r"""
    \b(?: sk-[\w-]{8,} | (?:AKIA|ASIA)[A-Z0-9]{12,} | gh[pousr]_\w{16,} | github_pat_\w{16,}
        | glpat-[\w-]{12,} | xox[abeoprs]-[\w-]{8,} | AIza[\w-]{20,} | npm_\w{16,} | hf_\w{16,}
        | eyJ[\w-]{8,}\.[\w-]+\.[\w-]+ )
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | (?<=://)[^\s/@:]+:[^\s/@]+(?=@)
    | (?i:(?<=authorization)|(?<=x-api-key))["']?\s*[:=]\s*["']?(?:(?i:bearer|basic)\s+)?[^\s"',}]+
    """,
    re.VERBOSE | re.DOTALL,
)


def scrub(text: str) -> str:
    """`text` without what has the shape of a secret. For reports and exports; hashes are left alone."""
    return _SECRET_SHAPES.sub("[redacted]", text)


def report(error: BaseException, redact: Callable[[str], str] = str) -> str:
    """Write the report. Returns the one line to print: what happened, and where the report is."""
    import traceback

    name = type(error).__name__
    text = "".join(traceback.format_exception(error))
    head = f"tui-agent {__version__}, Python {sys.version.split()[0]}, {sys.platform}, {time.ctime()}\n\n"
    line = f"tui-agent crashed ({name}); this is a fault of the program."
    folder = paths.log_folder()
    try:
        path = folder / f"crash-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
        fd = paths.open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(head + redact(scrub(text)))
        for old in sorted(folder.glob("crash-*.log"))[:-KEPT]:
            old.unlink()
    except OSError as problem:
        return f"{line} No report could be written to {folder}: {problem.strerror or problem}"
    return f"{line} The report is in {path}"


def watch_threads(redact: Callable[[str], str]) -> None:
    """Let errors that end a thread leave a report, and no word: it would be painted over the screen."""
    import threading

    def hook(arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None and not isinstance(arguments.exc_value, SystemExit):
            report(arguments.exc_value, redact)

    threading.excepthook = hook
