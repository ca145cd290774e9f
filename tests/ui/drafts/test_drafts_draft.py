from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui_agent.ui.drafts.draft import Draft, adopted, fold, folded, is_long, joined
from tui_agent.ui.drafts.pasted_path import as_mention, mention

PASTES = st.text(max_size=50) | st.sampled_from(["a" * 20, "b" * 20, "[pasted 1 line, 20 B]"])
PIECES = st.lists(st.tuples(st.text(alphabet="ab \n[", max_size=8), PASTES), max_size=5)


def written(pieces: list[tuple[str, str]]) -> tuple[Draft, str]:
    """A draft with a chip for each paste, and what it should send."""
    text, whole, pastes = "", "", {}
    for words, paste in pieces:
        label = fold(paste, pastes)
        pastes[label] = paste
        text, whole = f"{text}{words}{label}", f"{whole}{words}{paste}"
    return Draft(text, pastes), whole


@given(PIECES)
@settings(deadline=None)
def test_pastes_arrive_exactly(pieces: list[tuple[str, str]]) -> None:
    draft, whole = written(pieces)
    assert draft.whole == whole
    assert folded(draft).whole == whole
    assert Draft.from_json(draft.as_json()) == draft.stripped()


@given(st.lists(PIECES, min_size=1, max_size=4))
@settings(deadline=None)
def test_drafts_are_joined_without_mixing_up_their_pastes(drafts: list[list[tuple[str, str]]]) -> None:
    made = [written(pieces) for pieces in drafts]
    assert joined(draft for draft, _ in made).whole == "\n\n".join(whole for _, whole in made)


@given(PIECES, PIECES)
@settings(deadline=None)
def test_a_draft_beside_others_keeps_its_meaning(
    mine: list[tuple[str, str]], others: list[tuple[str, str]]
) -> None:
    draft, whole = written(mine)
    taken = written(others)[0].pastes
    here = adopted(draft, taken)
    assert (
        Draft(here.text, {**taken, **here.pastes}).stripped().pastes.items() >= here.stripped().pastes.items()
    )
    assert here.whole == whole


def test_labels_say_how_much_there_is() -> None:
    assert fold("x\n" * 240, {}) == "[pasted 240 lines, 480 B]"
    assert fold("y" * 12_300, {}) == "[pasted 1 line, 12 KB]"


@pytest.mark.parametrize(
    "value", [None, [], {}, {"text": 3}, {"text": "a", "pastes": 3}, {"text": "a", "pastes": {"b": 1}}]
)
def test_what_is_no_draft_is_none(value: object) -> None:
    assert Draft.from_json(value) is None


def test_limits() -> None:
    assert not is_long("x" * 1000)
    assert is_long("x" * 1001)
    assert is_long("\n" * 10)
    assert folded(Draft("x" * 30_000)).text == "[pasted 1 line, 30 KB]"


@pytest.mark.parametrize(
    ("pasted", "expected"),
    [
        ("/a/shot.png", "@/a/shot.png "),
        ("/a/my shot.PNG\n", '@"/a/my shot.PNG" '),
        ("/a/my\\ shot.jpeg", '@"/a/my shot.jpeg" '),
        ("'/a/my shot.webp'", '@"/a/my shot.webp" '),
        ("file:///a/my%20shot.gif", '@"/a/my shot.gif" '),
        ("~/x.jpg", "@~/x.jpg "),
        ("shot.png", None),
        ("/a/notes.txt", None),
        ("see /a/x.png", None),
        ("/a/x.png\n/a/y.png", None),
        ("it's/a.png", None),
        ("/a/\x1b[2J.png", None),
    ],
)
def test_pasted_paths_of_pictures(pasted: str, expected: str | None) -> None:
    assert as_mention(pasted) == expected


def test_paths_with_blanks_are_quoted() -> None:
    assert (mention("a b"), mention("ab")) == ('@"a b"', "@ab")
