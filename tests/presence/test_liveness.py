"""Whether a connection is believed: after silence, and after the process stood still."""

from __future__ import annotations

import asyncio

import pytest

from presence.intervals import Intervals
from presence.session import Liveness
from tests.presence.session_bench import Bench, Line
from tests.presence.test_roster import ADA, BOB, GUILD

PACE = Intervals()


@pytest.fixture
def feed() -> Line:
    return Line()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock: its one element."""
    moment = [1000.0]
    monkeypatch.setattr("presence.session.time.monotonic", lambda: moment[0])
    return moment


@pytest.fixture
def liveness(feed: Line, now: list[float]) -> Liveness:
    liveness = Liveness(feed, PACE, guild_id=GUILD)
    liveness.begin(now[0])
    return liveness


def wait(liveness: Liveness, now: list[float], seconds: float) -> None:
    """As a worker that runs: it looks each second."""
    for _ in range(int(seconds)):
        now[0] += 1
        asyncio.run(liveness.tick())


def test_nothing_is_asked_while_the_platform_speaks(liveness: Liveness, feed: Line, now: list[float]) -> None:
    for _ in range(30):
        wait(liveness, now, 1)
        liveness.hear(now[0])
    assert (feed.questions, liveness.is_alive(now[0])) == ([], True)


def test_silence_is_asked_about_and_then_not_believed(liveness: Liveness, feed: Line, now: list[float]) -> None:
    wait(liveness, now, PACE.silence)
    assert (feed.questions, liveness.is_alive(now[0])) == ([("liveness1", [GUILD]), ("liveness2", [GUILD])], True)
    wait(liveness, now, 1)
    assert not liveness.is_alive(now[0])
    liveness.hear(now[0])
    assert liveness.is_alive(now[0])


@pytest.mark.parametrize("notices", ["the next look", "the next event", "the next stamp"])
def test_who_stood_still_believes_only_an_answer_to_a_new_question(
    liveness: Liveness, feed: Line, now: list[float], notices: str
) -> None:
    wait(liveness, now, PACE.quiet)
    old = feed.questions[-1][0]
    now[0] += PACE.standstill + 0.1
    if notices == "the next event":
        liveness.hear(now[0])
    elif notices == "the next stamp":
        assert not liveness.is_alive(now[0])
    asyncio.run(liveness.tick())
    liveness.hear(now[0])
    assert (liveness.take(old), liveness.is_alive(now[0])) == (True, False)
    assert liveness.take(feed.questions[-1][0])
    assert liveness.is_alive(now[0])


def test_a_new_or_resumed_session_is_believed(liveness: Liveness, now: list[float]) -> None:
    now[0] += 100
    assert not liveness.is_alive(now[0])
    liveness.begin(now[0])
    assert liveness.is_alive(now[0])


@pytest.mark.parametrize("nonce", [None, 7, "full1", "ask1", []])
def test_chunks_of_other_questions_are_not_ours(liveness: Liveness, nonce: object) -> None:
    assert not liveness.take(nonce)


def test_a_worker_is_ready_only_while_the_platform_is_felt(now: list[float]) -> None:
    """The process stood still: what comes next may be old, and the answer to a question is not."""
    bench = Bench()
    bench.fill()
    now[0] += PACE.standstill + 1
    bench.tell("TYPING_START", {})
    was_ready = bench.session.is_ready
    asyncio.run(bench.session.liveness.tick())
    nonce, ids = bench.line.questions[-1]
    assert ids == [GUILD]
    bench.answer(nonce, not_found=[str(GUILD)])
    assert (was_ready, bench.session.is_ready) == (False, True)
    assert set(bench.roster.members) == {ADA, BOB}
