"""Calls of the lookups and leaderboards. Every answer is held against the JSON Schema of its form, as typed from
docs/spec/lookup.md.

A schema that names another file finds it beside itself.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from django.test import Client
from jsonschema import Draft202012Validator

Json = dict[str, Any]  # Any: a JSON value
SCHEMAS = Path(__file__).parent / "schemas"
LOOKUP_SECRET, ACCOUNT_SECRET = "the-lookup-key-of-the-tests", "the-account-key-of-the-tests"
ADDRESS = "203.0.113.7"
INCLUDES = (
    *("profile", "badges", "widgets", "audios", "backgrounds", "links", "projects", "views", "aliases", "gallery"),
    *("sections", "feedback", "comments"),
)
_OTHER_FILE = re.compile(r'"[a-z]+\.json#')
TYPE_INVALID = (400, {"error": "errors.lookupTypeInvalid"})
VALUE_INVALID = (400, {"error": "errors.lookupValueInvalid"})
VALUES_INVALID = (400, {"error": "errors.lookupValuesInvalid"})
BODY_INVALID = (400, {"error": "errors.lookupBodyInvalid"})
BODY_TOO_LARGE = (413, {"error": "errors.lookupBodyTooLarge"})
LIMIT_INVALID = (400, {"error": "errors.leaderboardLimitInvalid"})
NOT_FOUND = (404, {"error": "User not found."})
PRIVATE = (404, {"error": "This profile is private."})
NO_SUCH_PATH = (404, {"error": "errors.notFound"})


@dataclass(frozen=True)
class Answer:
    """What came back. `body`: the JSON in it, keys in the order of the text."""

    status: int
    text: str
    body: Any  # a JSON value
    headers: Mapping[str, str]

    @property
    def whole(self) -> tuple[int, Any]:
        """Any: a JSON value."""
        return self.status, self.body


def user(value: str | int = "ada", *includes: str, by: str = "username", **query: str) -> Answer:
    """The current lookup, with these includes."""
    return raw_user(urlencode({"type": by, "value": value, **dict.fromkeys(includes, "true"), **query}))


def raw_user(query: str, secret: str | None = LOOKUP_SECRET) -> Answer:
    """The current lookup with exactly this query string."""
    headers = {} if secret is None else {"X-API-Key": secret}
    return get(f"/api/lookup/user?{query}", "current", headers)


def users(values: object, *includes: str, by: object = "username", **more: object) -> Answer:
    """The lookup of several users, with these includes."""
    return raw_users(compact({"type": by, "values": values, **dict.fromkeys(includes, True), **more}))


def raw_users(body: str | bytes, secret: str | None = LOOKUP_SECRET, **more: Any) -> Answer:
    """The lookup of several users with exactly this body. `more`: of the request (Any: what Django's client takes)."""
    headers = {} if secret is None else {"X-API-Key": secret}
    options = {"content_type": "application/json", **more}
    answer = _answer(Client(REMOTE_ADDR=ADDRESS).post("/api/lookup/users", body, headers=headers, **options))
    if answer.status != 200:
        check("error", answer.body)
        return answer
    assert list(answer.body) == ["error", "results"]
    assert answer.body["error"] is None
    for element in answer.body["results"]:
        check("current" if element["error"] is None else "error", element)
    return answer


def earlier(value: str | int = "ada", *, by: str = "username", secret: str = ACCOUNT_SECRET) -> Answer:
    return get(f"/api/lookup/{by}/{quote(str(value), safe='')}?{urlencode({'key': secret})}", "earlier")


def board(name: str = "views", secret: str = ACCOUNT_SECRET, **query: str | int) -> Answer:
    return get(f"/api/leaderboard/{name}?{urlencode({'key': secret, **query})}", "leaderboard")


def get(path: str, form: str, headers: Mapping[str, str] | None = None, address: str = ADDRESS) -> Answer:
    """GET; the answer is JSON in `form`, or one of the documented errors."""
    answer = _answer(Client(REMOTE_ADDR=address).get(path, headers=dict(headers or {})))
    check(form if answer.status == 200 else "error", answer.body)
    return answer


def _answer(response: Any) -> Answer:
    """What came back. `response`: of Django's client, whose type has no public name (Any)."""
    assert response.headers["Content-Type"] == "application/json", response.content
    assert response.headers["Content-Length"] == str(len(response.content))
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    text = response.content.decode()
    body = json.loads(text, object_pairs_hook=_once)
    return Answer(response.status_code, text, body, response.headers)


def check(form: str, body: object) -> None:
    """Fails with the first place where `body` is not what the schema says."""
    first = next(_validator(form).iter_errors(body), None)
    assert first is None, f"{form}: {'/'.join(map(str, first.absolute_path))}: {first.message[:1500]}"


@functools.cache
def _validator(form: str) -> Draft202012Validator:
    """References into other files become references into one schema that holds the definitions of all."""
    texts = {path.stem: _OTHER_FILE.sub('"#', path.read_text()) for path in sorted(SCHEMAS.glob("*.json"))}
    schema = json.loads(texts[form])
    own = schema.get("$defs", {})
    shared = {
        name: of for stem in ("sections", "settings", "shared") for name, of in json.loads(texts[stem])["$defs"].items()
    }
    return Draft202012Validator({**schema, "$defs": {**shared, **own}})


def _once(pairs: Sequence[tuple[str, Any]]) -> Json:
    """An object without duplicate keys."""
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)


def compact(value: object) -> str:
    """The JSON text that says `value` with its keys in this order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
