"""What a log line must not hold is replaced."""

import pytest

from config.logging import redacted


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("GET /api/x?key=abc&limit=3", "GET /api/x?key=[redacted]&limit=3"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
        ('{"client_secret": "abc"}', '{"client_secret": "[redacted]"}'),
        ("Error at /files/Ab12Cd34/delete/s3cr-et_", "Error at /files/Ab12Cd34/delete/[redacted]"),
        ("Error at '/files/Ab12Cd34/delete/s3cret'?", "Error at '/files/Ab12Cd34/delete/[redacted]'?"),
        ("Error at /files/Ab12Cd34", "Error at /files/Ab12Cd34"),
    ],
)
def test_secrets_are_replaced(line: str, written: str) -> None:
    assert redacted(line) == written
