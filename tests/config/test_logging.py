"""What a log line must not hold is replaced."""

import logging

import pytest

from config.observability.logs import NotUnavailable


@pytest.mark.parametrize(("status", "is_logged"), [(500, True), (503, False), (504, True)])
def test_each_answer_of_an_outage_is_not_logged(status: int, is_logged: bool) -> None:
    record = logging.makeLogRecord({"status_code": status})
    assert NotUnavailable().filter(record) is is_logged
