"""How long a decision about a command takes: `python tests/bench/bench_decide.py`.

Warm means that the parser is loaded. Each command of the corpus is decided with its parse thrown away each
time ("fresh") and kept ("again", as when a question is decided anew); the worst cases are long commands built
to be slow, always fresh.
"""

import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from tui_agent.permissions import decide_command
from tui_agent.permissions import grammar, mentions, shell, syntax

CORPUS = Path(__file__).parents[1] / "permissions" / "shell_verdicts.jsonl"
LONG = {
    "echo of 10 000 letters": "echo " + "a" * 9_995,
    "2 000 commands": "true;" * 2_000,
    "3 333 times dd": "dd;" * 3_333,
    "1 400 times rm": "rm -rf;" * 1_428,
    "1 000 nested sh -c": "sh -c " * 1_666,
    "nested substitutions": "echo " + "$(" * 3_300 + "rm" + ")" * 3_300,
    "words": "rm " + "a " * 4_990,
    "quoted words": "rm " + "'a' " * 2_490,
    "variables": "rm " + "$a " * 3_300,
    "open parentheses": "f()" + "(" * 9_990,
    "functions": "f(){ a|a& };" * 830,
    "pipes": "a|" * 4_999 + "a",
    "backslashes": "rm " + "\\a" * 4_990,
    "globs": "ls " + "*a" * 4_990,
    "find -exec": "find " + "-exec rm " * 1_000,
    "env -S": "env " + "-S rm " * 1_600,
}


def forget():
    syntax.parse.cache_clear()
    mentions._mentions.cache_clear()
    grammar.tree.cache_clear()
    shell._everything.cache_clear()


def timed(command, folder, rules):
    start = time.perf_counter()
    decide_command(command, folder=folder, rules=rules)
    return (time.perf_counter() - start) * 1e3


def main():
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        cases = [json.loads(line) for line in CORPUS.read_text().splitlines()]
        fresh, again = [], []
        for _ in range(20):
            for case in cases:
                rules = [tuple(rule) for rule in case.get("rules", ())]
                forget()
                fresh.append(timed(case["cmd"], folder, rules))
                again.append(timed(case["cmd"], folder, rules))
        for name, times in (("fresh", fresh), ("again", again)):
            print(f"corpus, {name}: median {statistics.median(times):.3f} ms, worst {max(times):.2f} ms")
        rules = [("deny", "curl *"), ("ask", "git push *"), ("allow", "*")]
        worst = 0.0
        for name, command in LONG.items():
            times = []
            for _ in range(5):
                forget()
                times.append(timed(command[:10_000], folder, rules))
            worst = max(worst, statistics.median(times))
            print(f"  {name}: median {statistics.median(times):.2f} ms, worst {max(times):.2f} ms")
        print(f"long commands: worst median {worst:.2f} ms")


if __name__ == "__main__":
    main()
