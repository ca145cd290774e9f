"""Random command lines, and what bash really makes of them."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

PROGRAMS = "ls cat echo git grep sort rm make xargs find true"
PLAIN = "a b ab -n -la srcx a.py --opt=v -- - . .. x=1 HEAD~1 1 22 a,b a:b @ % + ^ # a#b = ! !a ~ a~ * ?"
NAMES = PROGRAMS.split()
PIECES = [
    *PLAIN.split(),
    *("[a]", "é", "a=b"),
    *("'a b'", "'a;b'", '"a b"', '"a && b"', "''", '""', 'a"b c"d', "a'b'\"c\"", "\\a", "\\;", "\\(", "\\*"),
    *("'*'", '"\\""', '"\\a"', "\\'", "'\\'", '"\\\\"', "a\\b", "\\\\", "'é'", '"\'"', "'\"'", "--a='b c'"),
    *("$x", "$(echo)", "`echo`", "{a,b}", "{}", "\\ ", '\\ a"b"', "$'a'", "<(echo)", "\\\n", "\t"),
]
JOINTS = [" ; ", ";", " && ", "&&", " || ", " | ", "|", "\n", " & ", " |& ", "\n\n", " ;\n", "; \n ", "&&\n"]
TAILS = [
    *("", "", "", "", " 2>/dev/null", " >/dev/null", " 2>&1", " > /dev/null", " < /dev/null", ">/dev/null"),
    *("2>/dev/null", "2>&1", ";"),
]
LEADS = [
    "",
    "",
    "",
    "",
    "",
    "",
    "! ",
    "time ",
    "X=1 ",
    "coproc ",
    "if ",
    "{ ",
    "( ",
    ">/dev/null ",
    " ",
    "\n",
]
CHARACTERS = "ab -=/~*?[]{}()<>|&;!#$'\"`\\\n\t,.:@%^+é0129"


def line(random: random.Random) -> str:
    """One command line, mostly plain, sometimes of the parts that parsers get wrong."""
    if random.random() < 0.2:
        noise = "".join(random.choice(CHARACTERS) for _ in range(random.randrange(1, 12)))
        return f"{random.choice(NAMES)} {noise} {random.choice(PIECES)}"
    parts = []
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 5])):
        words = [random.choice(NAMES)]
        for _ in range(random.randrange(5)):
            word = random.choice(PIECES)
            words.append(word + random.choice(PIECES) if random.random() < 0.15 else word)
        blank = random.choice([" ", " ", " ", "  ", " \t"])
        parts.append(random.choice(LEADS) + blank.join(words) + random.choice(TAILS))
        parts.append(random.choice(JOINTS))
    return "".join(parts[:-1])


class Recorder:
    """A bash in which every program of `NAMES` only writes down the arguments it was called with."""

    def __init__(self, folder: Path) -> None:
        self._records = folder / "records"
        self._prelude = folder / "prelude.sh"
        self._work = folder / "work"
        self._work.mkdir()
        self._records.mkdir()
        # a file for each call: the members of a pipeline run at the same time
        record = '"$RECORDS/$BASHPID.$((++__calls))"'
        said = f'__said() {{ printf \'%s\\0\' "$@" > {record}; return "$CODE"; }}\n'
        self._prelude.write_text(said + "".join(f'{name}() {{ __said {name} "$@"; }}\n' for name in NAMES))

    def calls(self, command: str, code: int) -> list[tuple[str, ...]]:
        """The argument lists of what ran, sorted; each call has the exit code `code`."""
        subprocess.run(
            ["/bin/bash", "-c", command],
            env={
                "BASH_ENV": str(self._prelude),
                "RECORDS": str(self._records),
                "CODE": str(code),
                "HOME": "/nonexistent",
                "LC_ALL": "C.UTF-8",
            },
            cwd=self._work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        calls = [tuple(file.read_text().split("\0")[:-1]) for file in self._records.iterdir()]
        for file in [*self._records.iterdir(), *self._work.iterdir()]:
            file.unlink()
        return sorted(calls)
