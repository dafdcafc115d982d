"""How often the platform is asked for members, and that it is left alone where it says so."""

from __future__ import annotations

import pytest

from tests.presence.session_bench import Bench
from tests.presence.test_roster import ADA, BOB

NEW = 268473310000000013


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
