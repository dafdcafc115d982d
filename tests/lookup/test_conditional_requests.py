"""Entity tags of the lookups and leaderboards, and the answers to `If-None-Match`; the whole headers of each status."""

from __future__ import annotations

import gzip
import hashlib
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from infrastructure.requests import entity_tags
from lookup.documents import documents
from lookup.models import Profile, ProfileDocument, UserDocument
from tests.accounts.calls import ALWAYS, without_budget
from tests.factories.accounts import ApiKeyFactory
from tests.factories.lookup import main_profile
from tests.lookup.answers import ACCOUNT_SECRET, LOOKUP_SECRET
from tests.lookup.test_lookup_keys import ENDPOINTS, EVERY_ENDPOINT, LOOKUP
from tests.support import redis_commands

TAGGED = {**ALWAYS, "Cache-Control": "private, no-cache"}
NOT_MODIFIED = {name: value for name, value in TAGGED.items() if name != "Content-Type"}
BOTH = '"key";q=60;w=60, "address";q=60;w=60'  # the owner of the keys has premium
ADDRESS = '"address";q=60;w=60'
LONG = f"{LOOKUP}&profile=true"


def ask(path: str, method: str = "GET", **headers: str) -> Any:
    """The response of the test client, which has no public type. The key of the path's form goes with it."""
    return Client().generic(method, path, headers={**ENDPOINTS.get(path, {"X-API-Key": LOOKUP_SECRET}), **headers})


def fields(response: Any) -> dict[str, str]:
    """All headers but the id of the request. Seconds above 50 count as 60: Redis has a clock of its own."""
    found = dict(response.headers)
    assert len(found.pop("X-Request-Id")) == 16
    if "RateLimit" in found:
        found["RateLimit"] = re.sub(r"t=5[1-9]", "t=60", found["RateLimit"])
    return found


def tag_of(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@pytest.fixture
def long(operator: User) -> None:
    """The profile of the operator is worth compressing."""
    profile = main_profile(operator)
    Profile.objects.filter(pk=profile.pk).update(description="🌱" * 1900)
    documents.rebuild(profile.pk)


@EVERY_ENDPOINT
def test_200_and_304_have_the_same_tag_and_each_its_headers(operator: User, path: str) -> None:
    got = ask(path)
    tag = tag_of(got.content)
    budget = {"RateLimit-Policy": BOTH, "RateLimit": '"key";r=59;t=60, "address";r=59;t=60'}
    length = {"Content-Length": str(len(got.content))}
    assert (got.status_code, fields(got)) == (200, {**TAGGED, **budget, **length, "ETag": tag})
    again = ask(path, **{"If-None-Match": tag})
    budget["RateLimit"] = '"key";r=58;t=60, "address";r=58;t=60'
    assert (again.status_code, again.content) == (304, b"")
    assert fields(again) == {**NOT_MODIFIED, **budget, "ETag": tag}
    head = ask(path, "HEAD", **{"If-None-Match": tag})
    assert (head.status_code, without_budget(fields(head))) == (304, {**NOT_MODIFIED, "ETag": tag})


BAD = {
    "/api/lookup/user?type=nonsense&value=0": (400, {"X-API-Key": LOOKUP_SECRET}),
    "/api/lookup/user?type=uid&value=4711": (404, {"X-API-Key": LOOKUP_SECRET}),
    f"/api/lookup/username/nobody?key={ACCOUNT_SECRET}": (404, {}),
    f"/api/lookup/uid/none?key={ACCOUNT_SECRET}": (404, {}),
    **{f"/api/leaderboard/{board}?key={ACCOUNT_SECRET}&limit=0": (400, {}) for board in ("views", "badges", "uid")},
}


@pytest.mark.parametrize("path", BAD)
def test_what_the_handler_refuses_is_kept_by_nobody_and_has_no_tag(operator: User, path: str) -> None:
    status, headers = BAD[path]
    refused = Client().get(path, headers={**headers, "If-None-Match": "*"})
    budget = {"RateLimit-Policy": BOTH, "RateLimit": '"key";r=59;t=60, "address";r=59;t=60'}
    length = {"Content-Length": str(len(refused.content))}
    assert (refused.status_code, fields(refused)) == (status, {**ALWAYS, **budget, **length})


@EVERY_ENDPOINT
def test_a_refused_key_is_never_told_304(operator: User, path: str) -> None:
    before = path.partition("?key=")[0]
    refused = Client().get(before, headers={"If-None-Match": "*"})
    budget = {"RateLimit-Policy": ADDRESS, "RateLimit": '"address";r=59;t=60'}
    length = {"Content-Length": str(len(refused.content))}
    status = 401 if path == LOOKUP else 404
    assert (refused.status_code, fields(refused)) == (status, {**ALWAYS, **budget, **length})


@EVERY_ENDPOINT
def test_a_304_counts_as_a_request_and_429_has_its_own_headers(operator: User, path: str) -> None:
    statuses = [ask(path, **{"If-None-Match": "*"}).status_code for _ in range(60)]
    assert statuses == [304] * 60
    refused = Client(REMOTE_ADDR="203.0.113.9").get(path, headers={**ENDPOINTS[path], "If-None-Match": "*"})
    found = fields(refused)
    assert 50 < int(found.pop("Retry-After")) <= 60
    left = {"RateLimit-Policy": BOTH, "RateLimit": '"key";r=0;t=60, "address";r=60;t=60'}
    length = {"Content-Length": str(len(refused.content))}
    assert (refused.status_code, found) == (429, {**ALWAYS, **left, **length})


def test_a_tag_is_the_same_for_every_key_and_changes_if_and_only_if_the_body_does(operator: User) -> None:
    ApiKeyFactory(secret="another", permissions=["lookup:user"])
    path = f"{LOOKUP}&views=true"
    first = ask(path)
    assert ask(path, **{"X-API-Key": "another"}).headers["ETag"] == first.headers["ETag"]
    ProfileDocument.objects.update(fingerprint="")  # rendered again, to the same
    assert ask(path, **{"If-None-Match": first.headers["ETag"]}).status_code == 304
    UserDocument.objects.filter(pk=operator.pk).update(views=4711)
    changed = ask(path, **{"If-None-Match": first.headers["ETag"]})
    assert (changed.status_code, changed.headers["ETag"]) == (200, tag_of(changed.content))
    UserDocument.objects.filter(pk=operator.pk).update(views=0)
    assert ask(path).headers["ETag"] == first.headers["ETag"]


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("{tag}", 304),
        ("W/{tag}", 304),
        ('"another", {tag}', 304),
        ('"another" ,W/{tag},"third"', 304),
        ("*", 304),
        (" * ", 304),
        ('"another"', 200),
        ("{bare}", 200),
        ('"{bare}-gzip"', 200),
        ("w/{tag}", 200),
        ("*, {tag}x", 200),
        ("", 200),
        ("ü", 200),
        ('"a",' * 1000 + "{tag}", 304),
        ('"a",' * 1020 + "{tag}", 200),  # longer than what is read
    ],
)
def test_the_condition_is_a_list_that_is_compared_weakly(operator: User, condition: str, status: int) -> None:
    tag = ask(LOOKUP).headers["ETag"]
    sent = condition.format(tag=tag, bare=tag.strip('"'))
    assert ask(LOOKUP, **{"If-None-Match": sent}).status_code == status


@pytest.mark.usefixtures("long")
def test_the_gzip_coding_has_a_strong_tag_of_its_own() -> None:
    plain, packed = ask(LONG), ask(LONG, **{"Accept-Encoding": "gzip"})
    assert len(plain.content) >= entity_tags.SMALLEST_COMPRESSED
    assert gzip.decompress(packed.content) == plain.content
    tag, of_gzip = plain.headers["ETag"], packed.headers["ETag"]
    assert of_gzip == f'{tag[:-1]}-gzip"'
    for given, accepted, status in ((of_gzip, "gzip", 304), (f"W/{of_gzip}", "gzip", 304), (tag, "", 304)):
        again = ask(LONG, **{"If-None-Match": given, "Accept-Encoding": accepted})
        assert (again.status_code, again.content, again.headers["Vary"]) == (status, b"", "Accept-Encoding")
        assert again.headers["ETag"] == given.removeprefix("W/")
        assert "Content-Encoding" not in again.headers
    for given, accepted in ((of_gzip, ""), (tag, "gzip")):  # no bytes of the one are those of the other
        assert ask(LONG, **{"If-None-Match": given, "Accept-Encoding": accepted}).status_code == 200


@pytest.mark.usefixtures("long")
@pytest.mark.parametrize("accepted", ["", "gzip"])
def test_head_of_a_long_answer_has_the_headers_of_get(accepted: str) -> None:
    got, head = (ask(LONG, method, **{"Accept-Encoding": accepted}) for method in ("GET", "HEAD"))
    assert (head.status_code, head.content) == (200, b"")
    assert without_budget(fields(head)) == without_budget(fields(got))
    assert ("Content-Encoding" in fields(head)) is (accepted == "gzip")


def test_a_304_costs_one_statement_and_one_round_trip(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    tag = ask(LOOKUP).headers["ETag"]
    commands = redis_commands.noted(monkeypatch)
    with CaptureQueriesContext(connection) as found:
        assert ask(LOOKUP, **{"If-None-Match": tag}).status_code == 304
    assert (len(found), commands) == (1, ["EVALSHA"])
