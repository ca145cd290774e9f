"""What the demo's model says next: a pure function of the conversation, so that it can be stopped, continued
and replayed at any point.

The task: find where the order total is computed and add a test for an empty cart. The script looks, reads,
proposes the test, runs the tests, meets a real failure (an empty cart pays for delivery), proposes the fix
and runs them again. Each step looks first at what is done, then at what became of the last attempt: a
declined proposal with a reason gets a second form, without one it stays declined until the next prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tui_agent.models import prose
from tui_agent.models.progress import Progress, Taken

PROMPT = "Find where the order total is computed and add a test for an empty cart."

ORDER, PRICING, TESTS = "shop/order.py", "shop/pricing.py", "tests/test_order.py"
OWN_TESTS = "tests/test_empty_cart.py"
COMMAND = "python3 -m unittest -v"
TEST_NAME = "test_an_empty_cart_costs_nothing"

LAST_TEST = "        self.assertEqual(order_total(cart_of(TEA), voucher), 650 + 490)\n"
NEW_TEST = f"""
    def {TEST_NAME}(self):
        self.assertEqual(order_total(cart_of()), 0)
"""
OWN_FILE = f"""import unittest

from shop.cart import Cart
from shop.order import order_total


class EmptyCartTest(unittest.TestCase):
    def {TEST_NAME}(self):
        self.assertEqual(order_total(Cart()), 0)


if __name__ == "__main__":
    unittest.main()
"""
GOODS = "    goods = subtotal(cart)\n"
RETURN = "    return goods + delivery_cost(goods)\n"
EARLY = "    if not cart.lines:\n        return 0\n"
LATE = "    return goods + (delivery_cost(goods) if cart.lines else 0)\n"


@dataclass(frozen=True)
class Beat:
    """One reply. Without calls it ends the turn."""

    text: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def next_beat(progress: Progress) -> Beat:
    if progress.words is not None and not _is_task(progress.words):
        return Beat(prose.HONEST)
    story = Story(progress)
    beat = next(beat for step in STEPS if (beat := step(story)) is not None)
    if progress.opens and story.began:
        return replace(beat, text=f"{prose.GOING_ON}\n\n{beat.text}")
    remark = progress.taken[-1].remark if progress.taken and not progress.opens else ""
    return replace(beat, text=f"{prose.heard(remark)}\n\n{beat.text}") if remark else beat


def _is_task(words: str) -> bool:
    """The prefilled prompt, whatever was changed of it, or a word to go on."""
    said = words.lower().strip(" .!\n")
    return "empty cart" in said or "order total" in said or said.startswith(prose.GO_ON) or said in prose.YES


class Story:
    """The history seen as the steps of this script."""

    def __init__(self, progress: Progress) -> None:
        self.taken = progress.taken
        self.test = self._last(
            lambda t: _wrote(t, TESTS) or _wrote(t, OWN_TESTS) or _has(t, TESTS, TEST_NAME)
        )
        self.fix = self._last(lambda t: _wrote(t, ORDER) or _has(t, ORDER, EARLY) or _has(t, ORDER, LATE))
        self.run = self._last(lambda t: t.call.name == "run_command" and t.how != "stopped")

    @property
    def began(self) -> bool:
        return bool(self.taken)

    def _last(self, wanted: Callable[[Taken], bool]) -> int | None:
        return max((index for index, taken in enumerate(self.taken) if wanted(taken)), default=None)

    def has_read(self, path: str) -> bool:
        return any(t.call.name == "read_file" and t.path == path and t.how == "done" for t in self.taken)

    def attempts(self, *paths: str) -> list[Taken]:
        """Writes to these files that this turn proposed and that did not land."""
        return [t for t in self.taken if t.turn and _writes(t) and t.path in paths and t.how != "done"]

    def run_after(self, index: int | None) -> Taken | None:
        """The last run of the tests, if it was asked for after the call at `index`."""
        if self.run is None or index is None or self.run < index:
            return None
        run = self.taken[self.run]
        return run if run.turn or run.how in ("done", "failed") else None


def _writes(taken: Taken) -> bool:
    return taken.call.name in ("edit_file", "write_file")


def _wrote(taken: Taken, path: str) -> bool:
    return _writes(taken) and taken.path == path and taken.how == "done"


def _has(taken: Taken, path: str, fragment: str) -> bool:
    """Did the person's own file have it, when it was read? Line numbers may stand between its lines."""
    read = taken.call.name == "read_file" and taken.path == path and taken.how == "done"
    return read and all(line.strip() in taken.text for line in fragment.splitlines())


def passed(run: Taken) -> bool:
    return any(line.startswith("OK") for line in run.text.splitlines())


def failed(run: Taken) -> bool:
    return "FAILED (" in run.text


def _look(story: Story) -> Beat | None:
    if any(t.call.name == "list_files" and (t.turn or t.how == "done") for t in story.taken):
        return None
    search = {"pattern": "def .*total", "path": "shop"}
    return Beat(prose.LOOK, (("list_files", {"depth": 2}), ("search_files", search)))


def _read(story: Story) -> Beat | None:
    missing = [path for path in (ORDER, PRICING, TESTS) if not story.has_read(path)]
    reads = [t for t in story.taken if t.turn and t.call.name == "read_file" and t.path in missing]
    if broken := [t for t in reads if t.how != "stopped"]:
        return Beat(prose.unreadable(broken[0].path, broken[0].text))
    if not missing:
        return None
    return Beat(prose.READ, tuple(("read_file", {"path": path}) for path in missing))


def _propose_test(story: Story) -> Beat | None:
    if story.test is not None:
        return None
    first = ("edit_file", {"path": TESTS, "old": LAST_TEST, "new": LAST_TEST + NEW_TEST})
    second = ("write_file", {"path": OWN_TESTS, "content": OWN_FILE})
    attempts = story.attempts(TESTS, OWN_TESTS)
    again = partial(prose.test_otherwise, OWN_TESTS)
    return _proposal(attempts, prose.FOUND, first, again, second) or Beat(prose.no_test(attempts[-1]))


def _propose_fix(story: Story) -> Beat | None:
    run = story.run_after(story.test)
    if story.fix is not None or run is None:
        return None
    if passed(run):
        return Beat(prose.PASSES_ALREADY)
    if run.how in ("done", "failed") and not failed(run):
        return Beat(prose.odd_run(run.text))
    first = ("edit_file", {"path": ORDER, "old": GOODS, "new": EARLY + GOODS})
    second = ("edit_file", {"path": ORDER, "old": RETURN, "new": LATE})
    attempts = story.attempts(ORDER)
    text = prose.cause(ran=failed(run))
    return _proposal(attempts, text, first, prose.fix_otherwise, second) or Beat(prose.no_fix(attempts[-1]))


def _proposal(
    attempts: list[Taken],
    text: str,
    first: tuple[str, dict[str, Any]],
    otherwise: Callable[[str], str],
    second: tuple[str, dict[str, Any]],
) -> Beat | None:
    """The first form, the second if the first was declined with a reason; None: leave it at that."""
    declined = [attempt for attempt in attempts if attempt.how != "stopped"]
    if not declined:
        return Beat(text, (first,))
    if len(declined) == 1 and declined[0].reason:
        return Beat(otherwise(declined[0].reason), (second,))
    return None


def _run(story: Story) -> Beat | None:
    if story.run_after(story.test) is not None:
        return None
    return Beat(prose.RUN, (("run_command", {"command": COMMAND}),))


def _run_again(story: Story) -> Beat | None:
    declined = [
        t for t in story.taken if t.turn and t.call.name == "run_command" and t.how not in ("done", "failed")
    ]
    if declined or story.run_after(story.fix) is not None:
        return None
    return Beat(prose.RUN_AGAIN, (("run_command", {"command": COMMAND}),))


def _sum_up(story: Story) -> Beat:
    run = story.run_after(story.fix)
    assert story.test is not None
    where = story.taken[story.test].path
    if run is not None and run.how in ("done", "failed") and not passed(run):
        return Beat(prose.still_failing(run.text))
    return Beat(prose.summary(where, ran=run is not None and passed(run)))


STEPS: Iterable[Callable[[Story], Beat | None]] = (
    _look,
    _read,
    _propose_test,
    _run,
    _propose_fix,
    _run_again,
    _sum_up,
)
