"""The process that matches a regular expression when ripgrep is missing. Standard library only.

A regular expression can take for ever and can't be interrupted, so it runs where it can be killed: here,
without files, network or terminal. Argument: a JSON object. stdin: frames of a header (number of the file,
number of its first line, length) and UTF-8 text that ends with a line. stdout: one JSON list a matching
line, `[file, line, text]`. An invalid pattern ends it with status 2 and the reason on stderr.
"""

import ctypes
import json
import os
import re
import signal
import struct
import sys

HEADER = struct.Struct(">III")
_LINE_BOUND = re.compile(r"\\[AZz]|\(\?<?!")
"""What may match in a line and not in the whole text."""


def main() -> None:
    order = json.loads(sys.argv[1])
    die_with(order["parent"], order["seconds"])
    try:
        pattern = re.compile(order["pattern"], re.MULTILINE | (re.IGNORECASE if order["ignore_case"] else 0))
    except (re.error, OverflowError, RecursionError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    by_line = _LINE_BOUND.search(order["pattern"]) is not None
    left, width = order["hits"], order["width"]
    while header := sys.stdin.buffer.read(HEADER.size):
        file, first, length = HEADER.unpack(header)
        text = sys.stdin.buffer.read(length).decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        if not by_line and not pattern.search(text):
            continue
        for number, line in enumerate(text.removesuffix("\n").split("\n"), first):
            match = pattern.search(line)
            if match:
                print(json.dumps([file, number, around(line, match.start(), width)]))
                left -= 1
                if not left:
                    return
        sys.stdout.flush()


def around(line: str, hit: int, width: int) -> str:
    start = max(0, hit - width // 2)
    text = line[start : start + width]
    return f"{'…' if start else ''}{text}{'…' if len(line) > start + width else ''}"


def die_with(parent: int, seconds: float) -> None:
    """End when the parent does, or (where no signal tells) when the time is over; even inside a match."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    if sys.platform == "linux":
        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


if __name__ == "__main__":
    main()
