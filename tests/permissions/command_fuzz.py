"""Random arguments for the programs of the read-only list, and a folder to try them on."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from tui_agent.permissions.git_commands import COMMANDS
from tui_agent.permissions.readers import READERS

WORDS = """
    a.py b.txt src src/c.py out new 1 3 -5 +2 HEAD HEAD~1 main v1 HEAD:a.py . - -- x=1 %H full json
    auto /etc/passwd ../x ~/x .env *.py *.txt b* + +%Y 2020-01-01 010100002030 . .a $ENV 1,3p $p 2p
    a,b : , @x ( ) ! -o -exec ; {} -delete -print -name -type f -newer -fprintf -size +1 -maxdepth
    -ls -fls always
"""
DANGEROUS = """
    -o --output --output=out -i --in-place -w -f --file --files0-from=b.txt -T
    --compress-program=./x -s --set -C --pre=./x --hostname-bin=./x -O --ext-diff --textconv -d -D
    -m -c --exec --no-index -z -u -R -L --follow -e
"""
VALUES, EXTRA = WORDS.split(), DANGEROUS.split()


def command(random: random.Random) -> str:
    """One command of a listed program, with listed and other options."""
    name = random.choice([*READERS, "find", *["git"] * 12])
    line = READERS.get(name, "")
    words = [name]
    if name == "git":
        sub = random.choice(list(COMMANDS))
        line = COMMANDS[sub]
        words.append(sub)
    known = _options(line)
    for _ in range(random.randrange(6)):
        pool = random.choice([known, known, VALUES, VALUES, EXTRA]) or VALUES
        word = random.choice(pool)
        if word.startswith("--") and random.random() < 0.4:
            word += "=" + random.choice(VALUES)
        elif word.startswith("-") and len(word) == 2 and random.random() < 0.4:
            word += random.choice([random.choice(VALUES), random.choice("abcdefilnoprstuwxzCDLRST")])
        words.append(word if word in ("*.py", "*.txt", "b*") else quoted(word))
    return " ".join(words)


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _options(line: str) -> list[str]:
    options: list[str] = []
    for token in line.split():
        name = token.split(":")[0].split("?")[0]
        if name.startswith("--"):
            options.append(name)
        elif name.startswith("-"):
            options += [f"-{letter}" for letter in name[1:]]
    return options


def make_folder(folder: Path) -> None:
    """A small repository with two commits, a tag, a change, and names that read as options."""
    (folder / "src").mkdir(parents=True)
    (folder / "a.py").write_text("import os\nprint(1)\n")
    (folder / "b.txt").write_text("one\ntwo\nthree\n")
    (folder / "b.json").write_text('{"a": [1, 2]}\n')
    (folder / "src" / "c.py").write_text("x = 1\n")
    (folder / "x").write_text("#!/bin/sh\ntouch pwned\n")
    (folder / "x").chmod(0o755)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    for step in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"], ["tag", "v1"]):
        subprocess.run([*git, *step], cwd=folder, check=True, capture_output=True)
    (folder / "b.txt").write_text("one\n2\nthree\n")
    subprocess.run([*git, "commit", "-qam", "two"], cwd=folder, check=True, capture_output=True)
    (folder / "a.py").write_text("import os\nprint(2)\n")
    (folder / "new").write_text("untracked\n")


def snapshot(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below the folder: mode, kind and content. Git may refresh what its index knows of times."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if path.is_file() and path.name != "index" else b""
        found[str(path.relative_to(folder))] = (
            status.st_mode,
            status.st_nlink if path.is_file() else 0,
            content,
        )
    return found
