"""The states of a session and of a worker, transition by transition."""

from __future__ import annotations

import pytest

from presence.feed import SessionLost, SessionResumed, SessionStarted
from presence.flushing import Phase
from presence.session import SessionState
from presence.worker import State, state_of
from tests.presence.session_bench import Bench
from tests.presence.test_roster import ADA, GUILD, member

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
