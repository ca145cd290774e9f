"""All that the README promises of speed, beside the bare Textual app, as one table.

    python run_all.py [-n 3] [--runs start,first,…] [--out all.jsonl]     measure, then print
    python run_all.py --table all.jsonl                                    only print

Medians with their number of runs. A row that misses its target says so; on a busy machine many do, so the load
is printed with the table, and the ratios to the bare app of the same run count for more than milliseconds.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path

import compare

PRODUCT, FLOOR = "tui-agent", "floor-bare"
SHAPES = ("prose", "fence", "table")
RUNS = "start,first,stream,shapes,tools,cancel,long,grown,flood"

# what, keys of the measurement (the worst of them counts), factor to the unit, unit, target, digits
ROWS: list[tuple[str, tuple[str, ...], float, str, float | None, int]] = [
    ("process start to a typed character echoed", ("start_s",), 1, "s", 0.30, 2),
    ("the same, against the bare app", ("start_ratio",), 1, "×", 1.4, 2),
    ("process start to the first request", ("first_request_s",), 1, "s", 1.0, 2),
    ("CPU for a 20,000-token answer at full speed", ("stream_cpu_s",), 1, "s", 0.45, 2),
    *((f"CPU share at 100 tokens/s: {shape}, {when}", (f"{shape}{key}_cpu_pct",), 1, "%", 7, 1)
      for shape in SHAPES for when, key in (("at first", ""), ("late", "_late"))),
    *((f"key echo while streaming, {name} (worst shape)",
       tuple(f"{shape}{late}_echo_{key}_ms" for shape in SHAPES for late in ("", "_late")), 1, "ms", limit, 1)
      for name, key, limit in (("p50", "p50", 4), ("p95", "p95", 10), ("max", "max", 17))),
    ("bytes to the terminal while streaming (worst shape)",
     tuple(f"{shape}{late}_kb_s" for shape in SHAPES for late in ("", "_late")), 1, "kB/s", 50, 0),
    ("bytes while a run waits", ("waiting_kb_s",), 1, "kB/s", 1, 1),
    ("next answer after 200 exchanges, CPU against the first", ("long_ratio",), 1, "×", 1.1, 2),
    ("memory when idle", ("rss_idle_mb",), 1, "MB", 110, 0),
    ("memory after the 20,000-token answer", ("rss_after_mb",), 1, "MB", 120, 0),
    ("growth over 200 exchanges", ("long_rss_growth_mb",), 1, "MB", 15, 0),
    ("a session of 1,000 messages open again", ("resume_s",), 1, "s", 1.0, 2),
    ("wall for one of 100 sequential read calls", ("tool_wall_ms",), 1, "ms", 10, 1),
    ("focus in or out, 1,000 messages (CPU)", ("focus_cpu_ms",), 1, "ms", 5, 1),
    ("resize to the right picture, 1,000 messages", ("resize_ms",), 1, "ms", 40, 0),
    ("change of theme, 1,000 messages", ("theme_ms",), 1, "ms", 50, 0),
    ("idle CPU", ("idle_cpu_pct", "grown_idle_cpu_pct"), 1, "%", 0.5, 1),
    ("Escape to the socket closed", ("cancel_ms",), 1, "ms", 150, 0),
    ("a command that prints 200 MB: growth of memory", ("flood_growth_mb",), 1, "MB", None, 0),
]


def table(path: Path) -> str:
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
    values: dict[str, list[float]] = {}
    floors: list[float] = []
    for row in rows:
        data = row.get("data", {})
        if row["system"] == FLOOR:
            floors += [data["start_s"]] if "start_s" in data else []
        elif row["system"] == PRODUCT:
            for key, value in data.items():
                if isinstance(value, (int, float)) and (key != "start_s" or row["run"] == "start"):
                    values.setdefault(key, []).append(float(value))
    if floors and "start_s" in values:
        values["start_ratio"] = [statistics.median(values["start_s"]) / statistics.median(floors)]
    lines = ["| what | target | measured |", "| --- | ---: | ---: |"]
    for what, keys, factor, unit, target, digits in ROWS:
        found = [values[key] for key in keys if key in values]
        limit = "" if target is None else f"≤ {target:g} {unit}"
        if not found:
            lines.append(f"| {what} | {limit} | – |")
            continue
        worst = max(statistics.median(one) for one in found) * factor
        missed = " (missed)" if target is not None and worst > target else ""
        lines.append(f"| {what} | {limit} | {worst:.{digits}f} {unit}{missed} ({min(map(len, found))}) |")
    loads = [row["load"] for row in rows]
    about = f"{os.cpu_count()} cores, Python {sys.version.split()[0]}"
    faults = [f"- {r['system']} {r['run']}: {r['error'].splitlines()[0][:160]}" for r in rows if "error" in r]
    if loads:
        about += f", load {min(loads):.1f} to {max(loads):.1f} (median {statistics.median(loads):.1f})"
    return "\n".join([*lines, "", f"{about}. In brackets: number of runs.", *faults])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=3)
    parser.add_argument("--runs", default=RUNS)
    parser.add_argument("--out", type=Path, default=Path("all.jsonl"))
    parser.add_argument("--table", type=Path)
    args = parser.parse_args()
    if args.table is None:
        compare.measure([FLOOR, PRODUCT], args.runs.split(","), args.n, args.out)
    print(table(args.table or args.out))


if __name__ == "__main__":
    main()
