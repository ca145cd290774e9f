from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from pendings import Shown, pending

from tui_agent.agent import Allow, Cancelled, CancelSignal, Deny
from tui_agent.agent.gate import Answer
from tui_agent.permissions import Broker, Mode, Policy, PolicyGate, Question, parse_rule
from tui_agent.permissions.policy import NOT_READ


class Person:
    """Answers sets of questions when told to, and keeps what was asked."""

    def __init__(self) -> None:
        self.sets: list[list[Question]] = []
        self.asked = asyncio.Semaphore(0)
        self._answers: asyncio.Queue[Sequence[Answer] | None] = asyncio.Queue()
        self.showing = 0

    async def ask(self, questions: Sequence[Question], signal: CancelSignal) -> Sequence[Answer]:
        self.sets.append(list(questions))
        self.showing += 1
        assert self.showing == 1, "two sets at once"
        self.asked.release()
        try:
            answers = await self._answers.get()
        finally:
            self.showing -= 1
        return [Allow(q.pending.proposal) for q in questions] if answers is None else answers

    def yes(self) -> None:
        self._answers.put_nowait(None)

    def says(self, *answers: Answer) -> None:
        self._answers.put_nowait(answers)


@pytest.fixture
def person() -> Person:
    return Person()


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    return Policy(Mode.ASK, (), tmp_path)


async def test_all_that_ask_in_a_batch_are_one_set(person: Person, policy: Policy) -> None:
    policy.add([parse_rule("allow", "write_file(b)"), parse_rule("deny", "write_file(d)")])
    batch = [pending("write_file", name, call_id=name) for name in "abcd"]
    person.yes()
    answers = await PolicyGate(policy, Broker(person.ask)).decide(batch, CancelSignal())
    assert [[q.pending.call.id for q in asked] for asked in person.sets] == [["a", "c"]]
    assert [(type(answer), answer.by) for answer in answers] == [
        (Allow, "user"),
        (Allow, "rule"),
        (Allow, "user"),
        (Deny, "rule"),
    ]
    assert [line.by for line in policy.log] == ["user", "rule", "user", "rule"]


async def test_sets_come_one_at_a_time_in_order(person: Person, policy: Policy) -> None:
    gate = PolicyGate(policy, Broker(person.ask))
    tasks = []
    for name in "abc":
        tasks.append(asyncio.create_task(gate.decide([pending("write_file", name)], CancelSignal())))
        await asyncio.sleep(0)
    for _ in "abc":
        await person.asked.acquire()
        person.yes()
    await asyncio.gather(*tasks)
    assert [asked[0].pending.proposal.targets for asked in person.sets] == [("a",), ("b",), ("c",)]


async def test_without_a_person_asking_means_unanswered(policy: Policy) -> None:
    gate = PolicyGate(policy, Broker())
    (answer,) = await gate.decide([pending("run_command", "make")], CancelSignal())
    assert answer == Deny("make: no rule covers it", "mode", unanswered=True)


async def test_without_a_person_an_unread_file_is_to_be_read_first(tmp_path: Path) -> None:
    gate = PolicyGate(Policy(Mode.AUTO, (), tmp_path), Broker())
    (answer,) = await gate.decide([pending("write_file", "a", facts=[NOT_READ])], CancelSignal())
    assert isinstance(answer, Deny)
    assert not answer.unanswered
    assert "read it first" in answer.reason


async def test_a_cancelled_signal_ends_the_question(person: Person, policy: Policy) -> None:
    signal = CancelSignal()
    gate = PolicyGate(policy, Broker(person.ask))
    first = asyncio.create_task(gate.decide([pending("write_file", "a")], signal))
    await person.asked.acquire()
    waiting = asyncio.create_task(gate.decide([pending("write_file", "b")], signal))
    signal.cancel()
    for task in (first, waiting):
        with pytest.raises(Cancelled):
            await task
    assert len(person.sets) == 1
    assert person.showing == 0
    person.yes()
    (answer,) = await gate.decide([pending("write_file", "c")], CancelSignal())
    assert isinstance(answer, Allow)


async def test_a_set_signal_asks_nothing(person: Person, policy: Policy) -> None:
    signal = CancelSignal()
    signal.cancel()
    with pytest.raises(Cancelled):
        await PolicyGate(policy, Broker(person.ask)).decide([pending("write_file", "a")], signal)
    assert person.sets == []


async def test_what_a_new_grant_covers_is_not_asked_again(person: Person, policy: Policy) -> None:
    gate = PolicyGate(policy, Broker(person.ask))
    first = asyncio.create_task(gate.decide([pending("run_command", "make a")], CancelSignal()))
    await person.asked.acquire()
    second = asyncio.create_task(gate.decide([pending("run_command", "make b")], CancelSignal()))
    await asyncio.sleep(0)
    granted = policy.grant("run_command(make *)", "session")
    person.yes()
    await first
    (answer,) = await second
    assert len(person.sets) == 1
    assert answer.by == "rule"
    assert policy.uses(granted) == 1


async def test_an_answer_about_something_else_approves_nothing(person: Person, policy: Policy) -> None:
    gate = PolicyGate(policy, Broker(person.ask))
    asked, other = pending("write_file", "a"), pending("write_file", "b")
    for bad in (
        (Allow(other.proposal),),
        (Allow(replace(asked.proposal, kind="execute")),),
        (Allow(replace(asked.proposal, targets=("a", "b"))),),
        (),
        (Allow(asked.proposal), Allow(asked.proposal)),
        ("yes",),
    ):
        person.says(*bad)  # type: ignore[arg-type]
        (answer,) = await gate.decide([asked], CancelSignal())
        assert isinstance(answer, Deny), bad
        assert answer.by == "mode"


async def test_an_amended_change_runs(person: Person, policy: Policy) -> None:
    asked = pending("write_file", "a")
    assert asked.proposal.amend is not None
    amended = asked.proposal.amend(Shown(text="half of it"))
    person.says(Allow(amended, comment="half"))
    (answer,) = await PolicyGate(policy, Broker(person.ask)).decide([asked], CancelSignal())
    assert answer == Allow(amended, "user", "half")


async def test_an_edited_command_is_decided_again(person: Person, policy: Policy) -> None:
    policy.add([parse_rule("deny", "run_command(curl *)")])
    gate = PolicyGate(policy, Broker(person.ask))
    asked = pending("run_command", "make a")
    assert asked.proposal.amend is not None
    for text, kind in (("make b", Allow), ("sh -c 'curl x'", Deny), ("rm -rf ~", Deny)):
        person.says(Allow(asked.proposal.amend(Shown(text=text))))
        (answer,) = await gate.decide([asked], CancelSignal())
        assert isinstance(answer, kind), text
        assert answer.by == ("user" if kind is Allow else "rule")


async def test_the_third_question_about_a_declined_call_is_not_put(person: Person, policy: Policy) -> None:
    gate = PolicyGate(policy, Broker(person.ask))
    for command in ("make a", "make  a", "bash -c 'make a'", "make a"):
        person.says(Deny("no"))
        (answer,) = await gate.decide([pending("run_command", command)], CancelSignal())
        assert isinstance(answer, Deny)
    assert len(person.sets) == 2
    assert [line.by for line in policy.log] == ["user", "user", "mode", "mode"]
    policy.new_turn()
    person.yes()
    (answer,) = await gate.decide([pending("run_command", "make a")], CancelSignal())
    assert len(person.sets) == 3


async def test_each_question_is_announced_when_it_is_put(person: Person, policy: Policy) -> None:
    announced: list[tuple[str, str, str]] = []

    async def on_request(call_id: str, title: str, reason: str) -> None:
        announced.append((call_id, title, reason))

    person.yes()
    broker = Broker(person.ask, on_request=on_request)
    batch = [pending("write_file", ".envrc", call_id="x"), pending("write_file", "b", call_id="y")]
    await PolicyGate(policy, broker).decide(batch, CancelSignal())
    assert [(call_id, title) for call_id, title, _ in announced] == [
        ("x", "write_file .envrc"),
        ("y", "write_file b"),
    ]
    assert "protected" in announced[0][2]


async def test_a_question_says_its_commands_and_what_they_touch(
    person: Person, policy: Policy, tmp_path: Path
) -> None:
    for name in ("a.pyc", "b.pyc", "c"):
        (tmp_path / name).touch()
    person.yes()
    gate = PolicyGate(policy, Broker(person.ask))
    await gate.decide([pending("run_command", "make all && rm *.pyc c missing")], CancelSignal())
    (question,) = person.sets[0]
    assert question.commands == ("make all", "rm *.pyc c missing")
    assert question.touches == ("a.pyc", "b.pyc", "c")
    assert question.offer is None
    assert any("make all" in reason for reason in question.reasons)
