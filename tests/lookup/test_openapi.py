"""Answers of the lookups and leaderboards are true to the OpenAPI document, for a validator that knows no discriminator
and takes `format: uri` at its word."""

from __future__ import annotations

from collections.abc import Callable

import jsonschema
import pytest

from dashboard.documentation import schema
from lookup import leaderboards
from tests.lookup import answers
from tests.lookup.answers import INCLUDES, Answer
from tests.lookup.filled import Filled
from tests.support.openapi import schema_of

FORMATS = jsonschema.FormatChecker(formats=())
FORMATS.checks("uri")(lambda value: not isinstance(value, str) or "://" in value)


@pytest.mark.parametrize(
    ("path", "method", "ask"),
    [
        ("/api/lookup/user", "get", lambda: answers.user("ada", *INCLUDES)),
        ("/api/lookup/users", "post", lambda: answers.users(["ada", "nobody"], *INCLUDES)),
        ("/api/lookup/username/{username}", "get", lambda: answers.earlier("ada")),
        ("/api/leaderboard/uid", "get", lambda: answers.board("uid")),
    ],
)
def test_an_answer_is_true_to_its_schema(filled: Filled, path: str, method: str, ask: Callable[[], Answer]) -> None:
    leaderboards.rank()
    validator = jsonschema.Draft202012Validator(schema_of(schema.document(), path, method), format_checker=FORMATS)
    assert [(list(error.absolute_path), error.message) for error in validator.iter_errors(ask().body)] == []
