"""A worker's session: its states, whether its connection is trusted, and how often it asks for members."""

from __future__ import annotations

import asyncio

import pytest

from presence.gateway.hikari_feed import Starts
from presence.gateway.payloads import SessionLost, SessionResumed, SessionStarted
from presence.gateway.session import Liveness, SessionState
from presence.intervals import Intervals
from presence.worker.flushing import Phase
from presence.worker.worker import State, state_of
from tests.presence.session_bench import Bench, Line
from tests.presence.test_roster import ADA, BOB, GUILD, member

NEW = 268473310000000013
PACE = Intervals()
NOT_READY = [state for state in SessionState if state is not SessionState.READY]


def test_a_session_goes_from_state_to_state() -> None:
    bench = Bench()
    seen = [bench.session.state]

    def note() -> None:
        seen.append(bench.session.state)

    bench.session.tell(SessionStarted(None))
    note()
    bench.tell("GUILD_CREATE", {"id": str(GUILD)})
    note()
    bench.answer(bench.look(0)[0][0], member(ADA))
    note()
    bench.session.tell(SessionLost("op 7"))
    note()
    bench.session.tell(SessionResumed())
    note()
    bench.tell("GUILD_DELETE", {"id": str(GUILD), "unavailable": True})
    note()
    assert [state.name for state in seen] == "CLOSED ABSENT GATHERING READY CLOSED READY ABSENT".split()


@pytest.mark.parametrize("session", NOT_READY)
@pytest.mark.parametrize("phase", Phase)
def test_without_a_ready_session_a_worker_writes_nothing(session: SessionState, phase: Phase) -> None:
    states = [state_of(session, has_term=has_term, is_leader=has_term, phase=phase) for has_term in (False, True)]
    assert states == [State.CONNECTING, State.PAUSED]


@pytest.mark.parametrize(
    ("has_term", "is_leader", "phase", "expected"),
    [
        (False, False, Phase.WHOLE, State.STANDBY),
        (True, False, Phase.WHOLE, State.PAUSED),
        (True, True, Phase.NOTHING, State.TAKING_OVER),
        (True, True, Phase.DUMPING, State.DUMPING),
        (True, True, Phase.WHOLE, State.LIVE),
    ],
)
def test_a_ready_worker_does_what_lease_and_store_allow(
    has_term: bool, is_leader: bool, phase: Phase, expected: State
) -> None:
    assert state_of(SessionState.READY, has_term=has_term, is_leader=is_leader, phase=phase) is expected


# --- Liveness ---


@pytest.fixture
def feed() -> Line:
    return Line()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The monotonic clock: its one element."""
    moment = [1000.0]
    monkeypatch.setattr("presence.gateway.session.time.monotonic", lambda: moment[0])
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


# --- Requests for members ---


@pytest.fixture
def ready() -> Bench:
    bench = Bench()
    bench.fill()
    return bench


class TestLookups:
    def test_at_most_100_ids_in_2_seconds(self, ready: Bench) -> None:
        ready.refetch.enqueue(range(1, 251))
        asked = [(tenth / 10, len(ids)) for tenth in range(100) for _, ids in ready.look(tenth / 10)]
        assert asked == [(0.0, 100), (2.0, 100), (4.0, 50)]
        assert sorted(chat_id for _, ids in ready.line.questions[1:] for chat_id in ids) == list(range(1, 251))

    def test_what_is_wanted_again_and_again_is_not_asked_for_more_often(self, ready: Bench) -> None:
        asked = []
        for tenth in range(50):
            ready.refetch.enqueue([ADA])
            asked += [tenth / 10 for _ in ready.look(tenth / 10)]
        assert asked == [0.0, 2.0, 4.0]

    @pytest.mark.parametrize(("seconds", "pause"), [(5.0, 5.0), (30.0, 30.0), (0.0, 2.0), (1e9, 3600.0)])
    def test_a_refusal_holds_up_every_question(self, ready: Bench, seconds: float, pause: float) -> None:
        nonce = ready.ask(ADA)  # at 2
        ready.refuse(nonce, seconds)
        ready.refetch.enqueue([BOB])
        assert ready.look(max(pause, 4.0) - 0.01) == []
        ((_, chat_ids),) = ready.look(pause + 60)
        assert sorted(chat_ids) == [ADA, BOB]

    def test_a_shorter_refusal_shortens_no_longer_one(self, ready: Bench) -> None:
        nonce = ready.ask(ADA)
        ready.refuse(nonce, 30.0)
        ready.refuse(nonce, 3.0)
        assert (ready.look(29.99), len(ready.look(90))) == ([], 1)

    def test_a_refused_question_is_no_vain_one(self, ready: Bench) -> None:
        nonce = ready.ask(NEW)
        for round_ in range(1, 10):
            ready.refuse(nonce, 1.0)
            ((nonce, chat_ids),) = ready.look(round_ * 60)
            assert chat_ids == [NEW]
        assert len(ready.look(600)) == 1  # only now an answer is missing

    def test_an_answer_that_never_comes_is_waited_for_three_times(self, ready: Bench) -> None:
        ready.refetch.enqueue([NEW])
        asked = [second for second in range(100) for _ in ready.look(second)]
        assert asked == [0, 10, 20]

    def test_what_could_not_be_sent_is_no_question(self, ready: Bench) -> None:
        ready.refetch.enqueue([NEW])
        ready.line.is_up = False
        assert [ready.look(second) for second in range(0, 100, 5)] == [[]] * 20
        ready.line.is_up = True
        assert ready.look(100)[0][1] == [NEW]


class TestReconciles:
    @pytest.mark.parametrize(("seconds", "pause"), [(0.0, 1.0), (0.3, 1.0), (25.0, 25.0), (1e9, 3600.0)])
    def test_a_refused_question_is_repeated_when_it_may_be(self, seconds: float, pause: float) -> None:
        bench = Bench()
        bench.refuse(bench.start(), seconds)
        assert (bench.look(pause - 0.01), bench.look(pause + 60)) == ([], [("full1.2", [])])

    def test_a_refused_lookup_holds_up_no_reconcile(self) -> None:
        bench = Bench()
        bench.start()
        nonce = bench.ask(NEW)
        bench.refuse(nonce, 300.0)
        assert bench.look(40) == [("full1.2", [])]

    @pytest.mark.parametrize("opcode", [-1, 3, 4])
    def test_a_refusal_of_something_else_is_no_concern(self, opcode: int) -> None:
        bench = Bench()
        nonce = bench.start()
        bench.tell("RATE_LIMITED", {"opcode": opcode, "retry_after": 9.0, "meta": {"nonce": nonce}})
        bench.answer(nonce)
        assert bench.session.is_ready


DAY = 86_400


def begun_in(seconds: float, *, lasting: float, left: int | None = None) -> int:
    """How many sessions begin in this time, where each ends so long after its beginning."""
    starts, now, count = Starts(Intervals()), 1000.0, 0
    while now < 1000 + seconds:
        assert starts.seconds_to_wait(now, left) == 0
        starts.begin(now)
        starts.be_ready(now)
        count += 1
        now += lasting
        starts.lose(now)
        now += starts.seconds_to_wait(now, left) + 0.001
    return count


@pytest.mark.parametrize("lasting", [0, 1, 30, 59])
def test_a_day_of_short_sessions_costs_less_than_a_third_of_the_budget(lasting: float) -> None:
    assert begun_in(DAY, lasting=lasting) < 310


@pytest.mark.parametrize("lasting", [0, 59, 61, 600])
def test_a_hundred_sessions_are_enough_for_a_day(lasting: float) -> None:
    assert begun_in(DAY, lasting=lasting, left=99) <= 97


def test_pauses_grow_and_a_session_that_lasts_ends_them() -> None:
    starts, now, pauses = Starts(Intervals()), 0.0, []
    for _ in range(10):
        starts.begin(now)
        pauses.append(starts.seconds_to_wait(now, None))
        now += pauses[-1]
    assert pauses == [0, 0, 10, 20, 40, 80, 160, 300, 300, 300]
    starts.be_ready(now)
    assert [starts.lose(now + 59), starts.seconds_to_wait(now + 59, None)] == [False, 0]
    starts.begin(now)
    starts.be_ready(now)
    assert [starts.lose(now + 10), starts.lose(now + 60)] == [False, True]  # resumed in between
    starts.begin(now + 60)
    assert starts.seconds_to_wait(now + 60, None) == 0


def test_what_never_became_ready_counts_too() -> None:
    starts = Starts(Intervals())
    for _ in range(3):
        starts.begin(50)
        assert starts.lose(500) is False
    assert starts.seconds_to_wait(55, None) == 5


@pytest.mark.parametrize(("left", "seconds"), [(None, 0), (100, 0), (99, 900), (0, 900)])
def test_the_last_99_sessions_of_a_day_are_saved(left: int | None, seconds: float) -> None:
    starts = Starts(Intervals())
    assert starts.seconds_to_wait(1000, left) == 0  # the first one of a process
    starts.begin(1000)
    assert starts.seconds_to_wait(1000, left) == seconds
