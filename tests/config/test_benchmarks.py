"""What the measurements are held against, and their arithmetic."""

from __future__ import annotations

import pytest

from benchmarks import fastify
from benchmarks.bench import OURS, Sample, median
from benchmarks.cases import CASES
from benchmarks.results import Result
from benchmarks.targets import TARGETS

pytestmark = pytest.mark.once

FAST, SLOW = Sample(600, 1.5, 4, 100, 50, 10), Sample(100, 9, 20, 400, 450, 20)


def test_a_goal_is_at_least_as_hard_to_reach_as_its_floor() -> None:
    assert len(TARGETS) > 30
    for target in TARGETS.values():
        assert target.verdict(target.goal) == "met"
        if target.floor is not None:
            assert target.verdict(target.floor) == "below goal"


@pytest.mark.parametrize(
    ("name", "value", "verdict"),
    [
        ("lookup-13-sql", 4.1, "met"),
        ("lookup-13-sql", 3.9, "below goal"),
        ("lookup-13-sql", 2.9, "below floor"),
        ("start", 1.4, "met"),
        ("start", 1.6, "below goal"),
        ("start", 3.1, "below floor"),
        ("presence-5000", 101, "below goal"),  # it has no floor
    ],
)
def test_a_figure_is_held_against_goal_and_floor(name: str, value: float, verdict: str) -> None:
    assert TARGETS[name].verdict(value) == verdict


def test_the_median_is_taken_column_by_column() -> None:
    samples = [Sample(1, 9, 3, 4, 5, 6), Sample(2, 8, 3, 1, 5, 7), Sample(9, 1, 3, 2, 5, 8)]

    assert median(samples) == Sample(2, 8, 3, 2, 5, 7)


def test_a_result_compares_requests_and_processor_time() -> None:
    result = Result("lookup", "PostgreSQL", 1000)
    result.add("13 includes", {OURS: FAST, "peer": SLOW})
    result.compare("lookup-13-sql", {OURS: FAST, "peer": SLOW}, "peer")
    result.compare_by_processor("userinfo", {OURS: FAST, "peer": SLOW}, "peer")

    assert [finding.value for finding in result.findings] == [6, 870 / 160]
    *_, peer, _, lookup, userinfo = result.table().splitlines()
    assert peer == "| 13 includes | peer | 100 | 9.00 | 20.00 | 400 | 450 | 20 | 6.00 | 5.44 |"
    assert lookup.endswith("6 times (goal 4, floor 3): MET")
    assert userinfo.endswith("5.44 times (goal 9, floor 6): BELOW FLOOR")


def test_a_difference_is_named_by_its_path() -> None:
    wanted, found = {"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}

    assert fastify.difference(wanted, found) == "$.a[1].b: 2 is ours, 3 is theirs"


def test_every_case_says_what_it_measures() -> None:
    assert all(case.summary for case in CASES.values())
    assert any(case.is_quick for case in CASES.values())
