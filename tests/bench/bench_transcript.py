"""What the transcript costs, headless: python tests/bench/bench_transcript.py

Prints CPU milliseconds for a 20,000-token answer at full speed, for paced streams of different shapes (first
and last quarter, so that growth shows), for a long session (open, resize, page, theme, search) and the memory.
"""

from __future__ import annotations

import asyncio
import random
import resource
import time

import tui_agent.ui  # first: it sets Textual's frame rate

from textual.app import App, ComposeResult

from tui_agent.ui.widgets import highlight, markdown_rows
from tui_agent.ui.widgets.pieces import CallLine
from tui_agent.ui.widgets.transcript import Transcript

WORDS = ("the parser reads each token and keeps a small stack of open blocks so that a late fence or list item "
         "can close what came before it without walking the whole document again").split()
CODE = '''def load(path: str, *, retries: int = 3) -> dict[str, int]:
    """Read counts from `path`, retrying on a short read."""
    for attempt in range(retries):
        with open(path, encoding="utf-8") as handle:
            return {k: int(v) for k, v in json.load(handle).items()}
'''


def sentence(rng: random.Random) -> str:
    words = [rng.choice(WORDS) for _ in range(rng.randint(8, 18))]
    words[rng.randrange(len(words))] = f"`{rng.choice(WORDS)}()`"
    words[rng.randrange(len(words))] = f"**{rng.choice(WORDS)}**"
    return " ".join(words).capitalize() + "."


def markdown(tokens: int, seed: int = 1) -> str:
    rng, out, size, section = random.Random(seed), [], 0, 0
    while size < tokens * 4:
        part = [
            lambda: f"## Step {section}: {' '.join(rng.sample(WORDS, 4))}\n\n",
            lambda: " ".join(sentence(rng) for _ in range(rng.randint(2, 5))) + "\n\n",
            lambda: "".join(f"- {sentence(rng)}\n" for _ in range(rng.randint(3, 6))) + "\n",
            lambda: " ".join(sentence(rng) for _ in range(rng.randint(2, 5))) + "\n\n",
            lambda: f"```python\n{CODE}```\n\n",
            lambda: "| file | lines | note |\n| --- | ---: | --- |\n" + "".join(
                f"| `{rng.choice(WORDS)}.py` | {rng.randint(1, 900)} | {rng.choice(WORDS)} |\n" for _ in range(5)) + "\n",
        ][section % 6]()
        out.append(part)
        size += len(part)
        section += 1
    return "".join(out)


SHAPES = {
    "prose": lambda rng: (" ".join(sentence(rng) for _ in range(4)) + "\n\n" for _ in iter(int, 1)),
    "one paragraph": lambda rng: (sentence(rng) + " " for _ in iter(int, 1)),
    "one fence": lambda rng: (x for _ in iter(int, 1) for x in CODE.splitlines(True)),
    "one list": lambda rng: (f"- {sentence(rng)}\n" for _ in iter(int, 1)),
    "one table": lambda rng: (f"| {rng.choice(WORDS)} | {rng.randint(1, 900)} | {sentence(rng)} |\n" for _ in iter(int, 1)),
}
HEADS = {"one fence": "```python\n", "one table": "| a | b | c |\n|--|--|--|\n"}


def shape(name: str, size: int) -> str:
    rng, out, have = random.Random(1), [HEADS.get(name, "")], 0
    for part in SHAPES[name](rng):
        out.append(part)
        have += len(part)
        if have > size:
            return "".join(out)


class Bench(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


def cpu() -> float:
    return time.process_time() * 1000


def memory() -> float:
    with open("/proc/self/statm") as handle:
        return int(handle.read().split()[1]) * resource.getpagesize() / 1e6


async def settled(view: Transcript) -> None:
    for _ in range(50):
        await asyncio.sleep(0)
    deadline = time.monotonic() + 2
    while view._timer or view._sync_soon.due or view.screen._dirty_widgets:
        await asyncio.sleep(0.005)
        if time.monotonic() > deadline:
            raise TimeoutError


async def main() -> None:
    highlight.warm(), markdown_rows.warm()
    app = Bench()
    async with app.run_test(size=(120, 40)) as pilot:
        view = app.query_one(Transcript)
        await pilot.pause()
        for run in range(3):
            text = markdown(20_000, seed=run)
            pieces = [text[i:i + 4] for i in range(0, len(text), 4)]
            base = memory()
            t = cpu()
            for number, piece in enumerate(pieces):
                view.stream_text(piece)
                if number % 50 == 0:
                    await asyncio.sleep(0)
            view.end_text()
            await settled(view)
            print(f"20,000 tokens at full speed: {cpu() - t:.0f} ms, +{memory() - base:.1f} MB")
        for name in SHAPES:
            view.clear()
            text = shape(name, 40_000)
            step, quarter, costs = 40, [], []
            for at in range(0, len(text), step):
                t = cpu()
                view.stream_text(text[at:at + step])
                view._flush()
                await settled(view)
                costs.append(cpu() - t)
            q = len(costs) // 4
            view.end_text()
            print(f"{name:14} ms a repaint: first quarter {sum(costs[:q]) / q:.2f}, last {sum(costs[-q:]) / q:.2f}")
        view.clear()
        base, t = memory(), cpu()
        for number in range(1000):
            view.add_prompt(f"question {number}: {sentence(random.Random(number))}")
            view.show_call(f"c{number}", CallLine("read_file", f"src/module_{number}.py", "done", "120 lines"))
            view.add_answer(markdown(300, seed=number))
        await settled(view)
        print(f"1,000 exchanges: opened in {cpu() - t:.0f} ms CPU, +{memory() - base:.1f} MB, {view.row_count} rows (estimate)")

        async def cost(name, action) -> None:
            t, wall = cpu(), time.perf_counter()
            result = action()
            if asyncio.iscoroutine(result):
                await result
            await settled(view)
            print(f"{name:24} {cpu() - t:.1f} ms CPU, {1000 * (time.perf_counter() - wall):.1f} ms")

        for _ in range(3):
            await cost("page up", lambda: view.action_scroll_pages(-1))
        await cost("step up", lambda: view.action_scroll_rows(-3))
        await cost("search", lambda: view.find("question 17:"))
        view.find("")
        await cost("home", lambda: view.action_scroll_to_start())
        await cost("end", lambda: view.action_scroll_to_end())
        await cost("resize", lambda: pilot.resize_terminal(100, 40))
        def theme() -> None:
            app.theme = "nord"
        await cost("theme", theme)
        t = cpu()
        for _ in range(500):
            view.action_scroll_pages(-1)
            await settled(view)
        print(f"500 pages up: {(cpu() - t) / 500:.2f} ms a page; memory now +{memory() - base:.1f} MB")


asyncio.run(main())
