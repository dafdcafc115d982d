"""The form that sends a request of an endpoint, and the page that does so for readers without scripts."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts import rate_limits
from accounts.api_keys import keys
from accounts.models import User
from dashboard.documentation import explorer, schema
from infrastructure import limits
from tests.factories.lookup import main_profile
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

# Operations by page: everything under /api/ that reads with a key, and whose answer is one JSON document.
EXPLORED = {
    "lookup_user": "/docs/lookup/user",
    "lookup_users": "/docs/lookup/users",
    "lookup_presence": "/docs/lookup/presence",
    "lookup_presences": "/docs/lookup/presences",
    "lookup_username": "/docs/lookup/username",
    "lookup_uid": "/docs/lookup/uid",
    "leaderboard_views": "/docs/leaderboards/views",
    "leaderboard_badges": "/docs/leaderboards/badges",
    "leaderboard_uid": "/docs/leaderboards/uid",
    "imagehost_gallery": "/docs/imagehost/gallery",
    "imagehost_folders": "/docs/imagehost/folders",
    "imagehost_folder": "/docs/imagehost/folder",
}
# Streams, and a redirect to another host.
NOT_EXPLORED = {"lookup_presence_events", "lookup_presence_events_of_many", "chat_avatar"}


def secret_of(owner: User, permission: str, **more: Any) -> str:
    return keys.issue(owner=owner, permissions=[permission], name="try", by=owner, **more).secret


def send(client: Client, name: str, **data: str) -> Any:
    """Return the page of the answer."""
    response = client.post(f"/docs/try/{name}", data)
    assert (response.status_code, problems_of(response)) == (200, [])
    return page_of(response)


def body_of(page: Any) -> Any:
    return json.loads(page.xpath("string(//*[@id='try-body'])"))


def status_of(page: Any) -> str:
    return str(page.xpath("normalize-space(//*[contains(@class, 'explorer__status')]/span)"))


def test_every_endpoint_that_reads_has_its_form() -> None:
    operations = {each.id for each in schema.operations() if each.method == "GET"} | {"lookup_users"}
    assert set(EXPLORED) | NOT_EXPLORED == operations
    assert {name: found.page.path for name, found in explorer.explorers().items()} == EXPLORED


@pytest.mark.parametrize(("name", "path"), EXPLORED.items())
def test_a_form_has_the_parameters_of_the_endpoint_and_a_key_that_no_form_can_send(
    client: Client, name: str, path: str
) -> None:
    page = page_of(client.get(path))
    (form,) = page.xpath("//form[contains(@class, 'explorer')]")
    (key,) = form.xpath(".//input[@type='password']")
    assert (key.get("name"), key.get("autocomplete"), key.get("value")) == (None, "off", None)
    parameters = [each for each in schema.operation(name).parameters if each["in"] != "header"]
    parameters += schema.operation(name).members
    names = form.xpath(".//*[self::input or self::select]/@name")
    assert set(names) == {each["name"] for each in parameters}
    required = [each["name"] for each in parameters if each.get("required")]
    assert names[: len(required)] == required
    assert form.get("action") == f"/docs/try/{name}"
    assert not form.xpath(".//input[@name='csrfmiddlewaretoken']")
    for error in json.loads(form.xpath("string(.//script)")).values():
        assert page.xpath("//tr[@id=$id]", id=error["row"]), error
    assert "$API_KEY" in form.xpath("string(.//*[@id='try-curl'])")


def test_each_error_of_a_form_has_its_row_in_the_guide(client: Client) -> None:
    guides = {error["guide"] for found in explorer.explorers().values() for error in found.errors().values()}
    rows = {
        path: set(page_of(client.get(path)).xpath("//tr/@id")) for path in {guide.partition("#")[0] for guide in guides}
    }
    assert set(rows) == {"/docs/errors/keys", "/docs/errors/lookup", "/docs/errors/image-host"}
    assert [guide for guide in guides if guide.partition("#")[2] not in rows[guide.partition("#")[0]]] == []
    assert min(len(found.errors()) for found in explorer.explorers().values()) >= 10


def test_the_form_is_filled_with_the_readers_values(signed_in: Client, reader: User) -> None:
    for path in ("/docs/lookup/user", "/docs/try/lookup_user"):
        page = page_of(signed_in.get(path))
        assert page.xpath("//input[@id='try-value']/@value") == [reader.username]
        assert set(page.xpath("//form//input[@checked]/@name")) == {"profile", "badges"}
        parameters = {"type=username", f"value={reader.username}", "profile=true", "badges=true"}
        assert set(re.findall('--data-urlencode "(.*)"', page.xpath("string(//*[@id='try-curl'])"))) == parameters


def test_the_same_request_is_sent_again_with_the_etag_of_its_answer(client: Client, reader: User) -> None:
    main_profile(reader)
    asked = {"type": "username", "value": reader.username, "key": secret_of(reader, "lookup:user")}
    first = send(client, "lookup_user", **asked)
    again = {name: str(first.xpath(f"string(//input[@name='{name}']/@value)")) for name in ("etag", "etag_of")}
    assert again["etag_of"] == f"/api/lookup/user?type=username&value={reader.username}"
    second = send(client, "lookup_user", **asked, **again)
    assert (status_of(first), status_of(second)) == ("200 OK", "304 Not Modified")
    assert second.xpath("//*[@id='try-body']") == []
    assert {"RateLimit", "RateLimit-Policy", "ETag"} <= set(
        second.xpath("//dl[@class='facts explorer__headers']/dt/text()")
    )
    other = send(client, "lookup_user", **{**asked, "value": "nobody"}, **again)
    assert status_of(other) == "404 Not Found"


def test_what_was_chosen_is_kept_on_the_page_that_asks_for_the_key(client: Client) -> None:
    response = client.get("/docs/try/lookup_user?type=uid&value=0&views=true")
    assert response.headers["Cache-Control"] == "private, no-store"
    page = page_of(response)
    assert page.xpath("//input[@id='try-value']/@value") == ["0"]
    assert page.xpath("//form//input[@checked]/@name") == ["views"]
    curl = page.xpath("string(//*[@id='try-curl'])")
    assert re.findall('--data-urlencode "(.*)"', curl) == ["type=uid", "value=0", "views=true"]


def test_a_request_is_answered_by_the_endpoint_and_the_key_is_neither_shown_nor_kept(
    client: Client, reader: User
) -> None:
    main_profile(reader)
    secret = secret_of(reader, "lookup:user")
    asked = {"type": "username", "value": reader.username, "views": "true", "key": secret}
    response = client.post("/docs/try/lookup_user", asked)
    assert (response.status_code, problems_of(response)) == (200, [])
    assert secret.encode() not in response.content
    assert secret not in str(dict(client.session))
    assert response.headers["Cache-Control"] == "private, no-store"
    page = page_of(response)
    assert status_of(page) == "200 OK"
    assert body_of(page)["user"]["id"] == reader.pk
    assert set(body_of(page)) == {"error", "user", "views"}
    assert not page.xpath("//*[contains(@class, 'notice')]")


def test_several_users_are_sent_as_json(client: Client, reader: User) -> None:
    main_profile(reader)
    secret = secret_of(reader, "lookup:user")
    values = f'{reader.username}, it\'s "nobody" ,,'
    page = send(client, "lookup_users", type="username", values=values, views="true", key=secret)
    assert status_of(page) == "200 OK"
    first, second = body_of(page)["results"]
    assert (first["user"]["id"], set(first), second) == (
        reader.pk,
        {"error", "user", "views"},
        {"error": "User not found."},
    )
    curl = page.xpath("string(//*[@id='try-curl'])")
    sent = shlex.split(curl)
    assert json.loads(sent[sent.index("--data") + 1]) == {
        "type": "username",
        "values": [reader.username, 'it\'s "nobody"'],
        "views": True,
    }
    page = send(client, "lookup_users", type="uid", values="one", key=secret)
    assert (status_of(page), body_of(page)) == ("400 Bad Request", {"error": "errors.lookupValueInvalid"})
    assert "not a whole number" in page.xpath("string(//*[contains(@class, 'notice')])")


@pytest.mark.parametrize(("name", "field"), [("imagehost_gallery", "files"), ("imagehost_folders", "folders")])
def test_an_account_key_is_sent_as_a_bearer(client: Client, reader: User, name: str, field: str) -> None:
    page = send(client, name, key=secret_of(reader, "account"))
    assert (status_of(page), body_of(page)[field]) == ("200 OK", [])
    assert 'header "Authorization: Bearer $API_KEY"' in page.xpath("string(//*[@id='try-curl'])")


def test_an_error_comes_with_cause_fix_and_its_row_of_the_guide(client: Client) -> None:
    page = send(client, "lookup_uid", uid="1", key="nobody's")
    assert status_of(page) == "404 Not Found"
    (notice,) = page.xpath("//*[contains(@class, 'notice')]")
    assert "The key is malformed or unknown." in notice.text_content()
    assert notice.xpath(".//a/@href") == ["/docs/errors/keys#keys-earlier-forms-404-invalid-api-key"]


def test_a_request_counts_towards_the_limit_of_the_address(client: Client, settings: Settings) -> None:
    settings.RATE_LIMITS_ENABLED = True
    for _ in range(rate_limits.API_ADDRESS.amount):
        limits.hit(rate_limits.API_ADDRESS.of("127.0.0.1"))
    page = send(client, "lookup_uid", uid="1", key="x")
    assert status_of(page) == "429 Too Many Requests"
    shown = dict(zip(page.xpath("//dl/dt/text()"), page.xpath("//dl/dd/code/text()"), strict=True))
    assert {"Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"} <= set(shown)


def test_a_request_counts_as_a_use_of_the_key(client: Client, reader: User) -> None:
    secret = secret_of(reader, "account", remaining_uses=1)
    assert status_of(send(client, "imagehost_folders", key=secret)) == "200 OK"
    assert "usage limit" in body_of(send(client, "imagehost_folders", key=secret))["error"]


@pytest.mark.parametrize("value", ["", "1/events", "a\x00b", "../../healthz"])
def test_a_value_that_no_path_can_hold_is_refused_beside_its_field(client: Client, value: str) -> None:
    page = send(client, "lookup_presence", chat_id=value, key="x")
    assert page.xpath("//ul[contains(@class, 'errorlist')]")
    assert not page.xpath("//*[@id='try-body']")


@pytest.mark.parametrize("value", ["ä b", "%2e%2e", "a?b#c", "$HOME`id`"])
def test_any_other_value_reaches_the_endpoint_as_it_was_typed(client: Client, reader: User, value: str) -> None:
    page = send(client, "lookup_username", username=value, key=secret_of(reader, "account"))
    assert body_of(page)["error"] == "User not found" or status_of(page) == "404 Not Found"
    assert page.xpath("//input[@id='try-username']/@value") == [value]
    assert "$HOME" not in page.xpath("string(//*[@id='try-curl'])")


def test_what_has_no_form_is_404_and_the_answer_needs_the_token_of_its_form(client: Client) -> None:
    assert Client(enforce_csrf_checks=True).post("/docs/try/lookup_uid", {"uid": "1", "key": "x"}).status_code == 403
    for name in (*NOT_EXPLORED, "upload_file", "nothing"):
        assert client.get(f"/docs/try/{name}").status_code == 404
    assert client.put("/docs/try/lookup_uid").status_code == 405


def test_the_markdown_names_the_form_instead_and_the_page_may_be_cached(client: Client) -> None:
    text = client.get("/docs/lookup/uid.md").content.decode()
    assert "## Try it\n\nThe page for people has a form here" in text
    assert "explorer" not in text
    response = client.get("/docs/lookup/uid")
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert not response.cookies
