"""What a log line must not hold is replaced."""

import logging

import pytest

from config.logging import NotUnavailable, redacted


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("GET /api/x?key=abc&limit=3", "GET /api/x?key=[redacted]&limit=3"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
        ('{"client_secret": "abc"}', '{"client_secret": "[redacted]"}'),
        ("Authorization: Bot MjY4.abc-1.def_2", "Authorization: Bot [redacted]"),
        ("The bot was removed.", "The bot was removed."),
        ("?api_key=abc&api_sig=def", "?api_key=[redacted]&api_sig=[redacted]"),
        ("Error at /files/Ab12Cd34/delete/s3cr-et_", "Error at /files/Ab12Cd34/delete/[redacted]"),
        ("Error at '/files/Ab12Cd34/delete/s3cret'?", "Error at '/files/Ab12Cd34/delete/[redacted]'?"),
        ("Error at /files/Ab12Cd34", "Error at /files/Ab12Cd34"),
    ],
)
def test_secrets_are_replaced(line: str, written: str) -> None:
    assert redacted(line) == written


@pytest.mark.parametrize(("status", "is_logged"), [(500, True), (503, False), (504, True)])
def test_each_answer_of_an_outage_is_not_logged(status: int, is_logged: bool) -> None:
    record = logging.makeLogRecord({"status_code": status})
    assert NotUnavailable().filter(record) is is_logged
