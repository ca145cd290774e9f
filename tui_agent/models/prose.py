"""The words of the scripted model. They claim nothing that the tools did not answer."""

from __future__ import annotations

from tui_agent.models.progress import Taken

GO_ON = ("go on", "continue", "please go on", "please continue", "try again", "retry", "proceed")
YES = ("go", "yes", "ok", "okay", "again", "next", "please")

GOING_ON = "Going on from where this conversation stands."

SCRIPT = "This is a script, offline: with `ANTHROPIC_API_KEY` set, a real model answers here."

HONEST = f"{SCRIPT.removesuffix('.')}; say `go on`, and the script goes on with the empty cart."

LOOK = "I'll look around first, and search for what computes a total."

READ = (
    "`order_total` in `shop/order.py` looks like the place. I'll read it together with what it calls and the "
    "tests that exist."
)

FOUND = """\
The total is computed in **`order_total`** (`shop/order.py`):

1. `subtotal` adds up the lines of the cart,
2. the voucher, if there is one, takes its share off,
3. `delivery_cost` is added: free from 50.00 on, else 4.90.

No test covers an empty cart. I'd expect that who buys nothing pays nothing; this test says so:"""

RUN = "Now the whole suite, to see whether the code agrees."

RUN_AGAIN = "The same tests once more."

PASSES_ALREADY = """\
All tests pass, the one for an empty cart too: the code is already right, and nothing else needs to change."""


def heard(remark: str) -> str:
    return f"You said “{_short(remark)}”. I can't act on that: {SCRIPT[0].lower()}{SCRIPT[1:]}"


def unreadable(path: str, text: str) -> str:
    return (
        f"I can't read `{path}`:\n\n{_quoted(text)}\n\nThe script needs the sample project as it came: "
        "start the demo again, or put the file back and say `go on`."
    )


def test_otherwise(path: str, reason: str) -> str:
    return (
        f"You declined: “{_short(reason)}”. Then the existing file is left alone, and the test gets a file "
        f"of its own, `{path}`:"
    )


def no_test(taken: Taken) -> str:
    return {
        "declined": (
            "All right, nothing was written. Without the test I can only tell what I read: `order_total` "
            "adds 4.90 for delivery to *every* cart below 50.00, so an empty one would cost 4.90.\n\n"
            "Say `go on` to see the proposal again."
        ),
        "forbidden": (
            "I may only read in this mode, so here is the plan:\n\n"
            "1. add a test for an empty cart to `tests/test_order.py`,\n"
            "2. run `python3 -m unittest -v`,\n"
            "3. fix `order_total` if it charges for delivery of nothing.\n\n"
            "Change the mode (Shift+Tab) and say `go on` to carry it out."
        ),
        "unanswered": (
            "The test would go into `tests/test_order.py`, but writing needs an approval and nobody is "
            "here to give it. Nothing was changed. Allow it with `--mode accept-edits`, or run the demo on "
            "a screen."
        ),
    }.get(taken.how, _broken("The test could not be written", taken.text))


def cause(ran: bool) -> str:
    seen = (
        "The failure is real: `490 != 0`. An empty cart is charged 4.90 for delivery."
        if ran
        else "Without a run, by reading: an empty cart has goods of 0, which is below 50.00, so "
        "`delivery_cost` charges 4.90 for it."
    )
    return f"""{seen}

The fix belongs into `order_total`, not into `delivery_cost`: a voucher of 100 % also leaves goods worth
0, and that parcel is still delivered. So an empty cart ends early:

```python
if not cart.lines:
    return 0
```"""


def fix_otherwise(reason: str) -> str:
    return (
        f"You declined: “{_short(reason)}”. The same can be said in one line, where delivery is added and "
        "with no early return:"
    )


def no_fix(taken: Taken) -> str:
    return {
        "declined": (
            "All right, `shop/order.py` stays as it is. The new test stays, too; as long as the code is not "
            "changed it fails, and shows the fault.\n\nSay `go on` to see the fix again."
        ),
        "forbidden": "The mode no longer allows changes: change it (Shift+Tab) and say `go on`.",
        "unanswered": "The fix needs an approval, and nobody is here to give it. The test is in place.",
    }.get(taken.how, _broken("The fix could not be written", taken.text))


def odd_run(text: str) -> str:
    return _broken("The run says neither that the tests passed nor that they failed", text)


def still_failing(text: str) -> str:
    return _broken("The tests still fail after the change", text)


def summary(test: str, ran: bool) -> str:
    checked = "all tests pass" if ran else "not run, as the command was not allowed"
    return f"""\
## Done

| what | where | state |
|---|---|---|
| the order total | `order_total` in `shop/order.py` | found |
| test for an empty cart | `{test}` | added |
| an empty cart paid 4.90 for delivery | `shop/order.py` | fixed |
| `python3 -m unittest -v` | the whole suite | {checked} |

- **Cause:** delivery was added to every cart below 50.00, an empty one included.
- **Fix:** nothing in the cart, nothing to pay. Vouchers and free delivery are as before.

{SCRIPT}"""


def _broken(what: str, text: str) -> str:
    return f"{what}:\n\n{_quoted(text)}\n\nThe script ends here; say `go on` to try once more."


def _quoted(text: str) -> str:
    """The end of a tool's answer, where the cause is, as a code block that it can't leave."""
    lines = text.strip().splitlines()[-8:]
    return "\n".join(f"    {line[:200]}" for line in lines)


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= 120 else f"{line[:120]}…"
