"""What the documents' tables name stands on the page where a reader looks for it; examples hold against the schema."""

from __future__ import annotations

import functools
import json
import re
import sys
from typing import Any

import jsonschema
import pytest
from django.test import Client

from accounts import rate_limits
from accounts.plans import ALLOWANCES
from dashboard.client_apps import error_guide
from dashboard.client_apps.error_guide import anchor_of
from dashboard.documentation import (
    api_errors,
    contents,
    expansion,
    personalization,
    reference,
    rendering,
    schema,
    tables,
)
from dashboard.imagehost import uploaders
from imagehost import errors as imagehost_errors
from infrastructure.requests import errors
from infrastructure.requests.errors import ApiError
from lookup import errors as lookup_errors
from lookup.shapes.settings_schema import FIELDS
from oidc_provider.applications.scopes import SCOPES
from oidc_provider.discovery import document
from presence import errors as presence_errors
from tests.pages.markup import parsed
from tests.support.threads import together


@functools.cache
def text_of(slug: str) -> str:
    return personalization.visitor().fill(expansion.as_text(contents.pages()[slug]))


ENDPOINTS = [
    ("sign-in/discovery", "GET", "/.well-known/openid-configuration"),
    ("sign-in/authorize", "GET", "/api/auth/oauth2/authorize"),
    ("sign-in/token", "POST", "/api/auth/oauth2/token"),
    ("sign-in/userinfo", "GET", "/api/auth/oauth2/userinfo"),
    ("sign-in/revoke", "POST", "/api/auth/oauth2/revoke"),
    ("sign-in/introspect", "POST", "/api/auth/oauth2/introspect"),
    ("sign-in/jwks", "GET", "/api/auth/jwks"),
    ("sign-in/end-session", "GET", "/api/auth/oauth2/end-session"),
    ("lookup/user", "GET", "/api/lookup/user"),
    ("lookup/users", "POST", "/api/lookup/users"),
    ("lookup/presence", "GET", "/api/lookup/presence/{chatId}"),
    ("lookup/presences", "GET", "/api/lookup/presence"),
    ("lookup/presence-events", "GET", "/api/lookup/presence/{chatId}/events"),
    ("lookup/presence-events-of-many", "GET", "/api/lookup/presence/events"),
    ("lookup/stream-token", "POST", "/api/lookup/presence/stream-token"),
    ("lookup/username", "GET", "/api/lookup/username/{username}"),
    ("lookup/uid", "GET", "/api/lookup/uid/{uid}"),
    ("lookup/chat-avatar", "GET", "/api/chat/avatar/{userId}"),
    ("leaderboards/views", "GET", "/api/leaderboard/views"),
    ("leaderboards/badges", "GET", "/api/leaderboard/badges"),
    ("leaderboards/uid", "GET", "/api/leaderboard/uid"),
    ("imagehost/upload", "POST", "/api/imagehost/upload"),
    ("imagehost/earlier-upload", "POST", "/api/imagehost/upload"),
    ("imagehost/gallery", "GET", "/api/imagehost/gallery"),
    ("imagehost/folders", "GET", "/api/imagehost/folders"),
    ("imagehost/create-folder", "POST", "/api/imagehost/folders"),
    ("imagehost/folder", "GET", "/api/imagehost/folders/{id}"),
    ("imagehost/change-folder", "PATCH", "/api/imagehost/folders/{id}"),
    ("imagehost/delete-folder", "DELETE", "/api/imagehost/folders/{id}"),
]


@pytest.mark.parametrize(("slug", "method", "path"), ENDPOINTS)
def test_an_endpoint_has_its_page(slug: str, method: str, path: str) -> None:
    summary = contents.pages()[slug].summary
    assert summary.startswith(f"`{method} {path}`")
    assert "## Errors" in text_of(slug)
    assert "## Limits" in text_of(slug) or slug == "sign-in/discovery"


def test_every_operation_of_the_schema_has_a_page() -> None:
    documented = {(method, re.sub(r"\{\w+\}", "{}", path)) for _, method, path in ENDPOINTS}
    operations = {(each.method, re.sub(r"\{\w+\}", "{}", each.path)) for each in schema.operations()}
    assert operations <= documented


def test_every_operation_and_every_component_has_a_line_in_the_index_of_the_reference_and_one_place() -> None:
    index = text_of("reference")
    for operation in schema.operations():
        path = f"/docs/reference/{operation.id.replace('_', '-')}"
        line = f"| [{operation.method} {operation.path}]({path}) | {operation.details['summary']}. | "
        assert line in index
    texts = [text_of(page.slug) for page in contents.pages()["reference"].parts]
    for name in schema.components():
        assert [text.count(f"\n## {name}\n") for text in texts if f"\n## {name}\n" in text] == [1], name
        assert index.count(f"[{name}](/docs/reference/schemas-") == 1


def test_a_component_is_on_the_first_page_that_refers_to_it() -> None:
    pages = reference.schema_pages()
    assert (pages["Skills"], pages["Game"], pages["Asset"]) == (
        "schemas-sections",
        "schemas-catalogs",
        "schemas-profile",
    )


# Each page that was too long once, and anchors that it had: they lead to a link to the new place.
ANCHORS = {
    "lookup/presence": ["activity-and-activities", "status", "badges"],
    "lookup/user": [
        "user",
        "profile",
        "files",
        "badges",
        "badges-tiers",
        "gallery",
        "sections",
        "skills",
        "comments-items",
    ],
    "lookup/username": ["profile", "badges", "custombadges", "links", "audios", "backgrounds"],
    "lookup/settings": [anchor_of(field.key) for field in FIELDS],
    "leaderboards/entry": ["user-profile", "example"],
    "errors": [
        *(row.anchor for row in error_guide.ERRORS),
        *(api_errors.anchor_of(row) for row in api_errors.ERRORS),
        *(anchor_of(title) for title in api_errors.TITLES.values()),
        "429-of-a-sign-in-endpoint",
    ],
    "reference": [
        *(anchor_of(f"{each.method} {each.path}") for each in schema.operations()),
        *(name.lower() for name in schema.components()),
        *(anchor_of(each.tag) for each in schema.operations()),
        "schemas",
    ],
}


@pytest.mark.parametrize("slug", ANCHORS)
def test_an_address_from_before_a_page_had_parts_leads_to_a_link_to_the_new_place(slug: str) -> None:
    index = page_with(slug)
    for anchor in dict.fromkeys(ANCHORS[slug]):
        (place,) = index.xpath("//*[@id=$id]", id=anchor)
        links = [str(each) for each in place.xpath("self::li/a/@href | self::tr/td[1]/a/@href")]
        for path, _, fragment in (link.partition("#") for link in links):
            part = page_with(path.removeprefix("/docs/"))
            assert part.xpath("//*[@id=$id]", id=fragment or anchor), anchor
        assert links or place.tag in ("h2", "h3"), anchor


@functools.cache
def page_with(slug: str) -> Any:
    made = rendering.rendered(expansion.expanded(contents.pages()[slug]))
    return parsed(f"<html><body>{made.lead}{made.rest}</body></html>")


IN_PROSE = {  # components whose fields a page names outside of its tables of fields
    "lookup/user/sections": [
        *("AnimeItem", "AnimeSection", "AudioPlayerSection", "CustomSkill", "CustomTextSection", "GallerySection"),
        *("Game", "GamesSection", "MediaSection", "MediaTitle", "MusicItem", "MusicSection", "ProjectsSection"),
    ],
    "lookup/presence": ["Clan"],
    "lookup/presence/parts": ["ChatBadge", "ChatBadges"],
    "lookup/stream-token": ["StreamToken"],
    "lookup/username": ["EarlierAlias"],
    "imagehost/earlier-upload": ["UploadFormRequest"],
    "leaderboards/entry": ["BoardAudio", "BoardCustomBadge", "BoardLink"],
}


def test_every_field_of_a_component_is_named_on_a_page() -> None:
    """A table of fields names them all, or its page cannot be made. The tables of errors have the others."""
    in_tables = {
        name
        for page in contents.pages().values()
        for name in re.findall(r"^```fields (\w+)", page.source, re.MULTILINE)
    }
    components = {name for name, rule in schema.components().items() if rule.get("properties")}
    in_prose = {name for names in IN_PROSE.values() for name in names}
    assert components == in_tables | in_prose | {"ElementError", "Error", "Miss", "PresenceError", "UploadError"}
    for slug, names in IN_PROSE.items():
        named = set(re.findall(r"`(\w+)`", text_of(slug)))
        for name in names:
            assert set(schema.properties(name)) <= named, name


SETTINGS = contents.pages()["lookup/settings"].parts


def test_every_setting_has_a_row_with_its_earlier_names() -> None:
    for field in FIELDS:
        (text,) = [text_of(page.slug) for page in SETTINGS if f"`{field.key}`\n" in text_of(page.slug)]
        rows = text.split(f"## `{field.key}`\n")[1].split("\n## ")[0]
        (row,) = [line for line in rows.splitlines() if line.startswith(f"| `{field.name}` |")]
        for name in (field.earlier, field.leaderboard):
            assert not name or f"`{name}`" in row, field.name


def descendants(kind: type[ApiError]) -> set[type[ApiError]]:
    return {kind, *(each for child in kind.__subclasses__() for each in descendants(child))}


MODULES = (errors.__name__, lookup_errors.__name__, presence_errors.__name__, imagehost_errors.__name__)
RAISED = [
    kind
    for kind in descendants(ApiError)
    if kind.__module__ in MODULES
    and kind.__name__ not in ("ApiError", "KeyRefused", "TooManyUploads")  # the last one is answered on pages
]


def test_every_error_has_a_cause_and_a_fix() -> None:
    assert set(RAISED) <= {type(row.error) for row in api_errors.ERRORS}
    for row in api_errors.ERRORS:
        text = text_of(row.page)
        assert row.cause
        assert row.fix
        assert f"| {row.error.status} | `{row.body}` | {row.cause} |" in text


def test_every_oauth_error_is_explained_under_its_anchor() -> None:
    for row in error_guide.ERRORS:
        assert len(page_with(row.page).xpath("//h2[@id=$id]", id=row.anchor)) == 1, row.anchor


def test_every_field_of_discovery_is_explained() -> None:
    assert [name for name in document() if f"| `{name}` |" not in text_of("sign-in/discovery")] == []


def test_every_scope_and_claim_is_explained() -> None:
    text = text_of("sign-in/scopes")
    for scope in SCOPES.values():
        assert f"| `{scope.name}` | {scope.label} |" in text
        for claim in scope.claims:
            assert f"| `{claim}` | `{scope.name}` |" in text


def test_the_limits_are_those_of_the_code() -> None:
    text = text_of("limits")
    assert f"| {rate_limits.API_ADDRESS.amount} a minute | an IP address |" in text
    assert (
        f"| {rate_limits.API_KEY.amount} a minute; {rate_limits.API_PREMIUM_KEY.amount} where its owner has premium |"
        in text
    )
    assert f"| {rate_limits.PROTOCOL.amount} a minute | an IP address and an endpoint |" in text
    for allowance in ALLOWANCES.values():
        assert f"| {allowance.max_file_size // 1024**2} MB | {allowance.max_storage // 1024**3} GB |" in text


# --- Examples ---

EXAMPLES = [
    (page.slug, *found)
    for page in contents.pages().values()
    for found in re.findall(r"^```json (\w+)(\*?)\n(.*?)^```$", page.source, re.MULTILINE | re.DOTALL)
]


@pytest.mark.parametrize(("slug", "component", "is_list", "body"), EXAMPLES, ids=lambda value: str(value)[:24])
def test_an_example_is_an_answer_of_the_schema(slug: str, component: str, is_list: str, body: str) -> None:
    found = re.findall(r"^```json\n(.*?)^```$", text_of(slug), re.MULTILINE | re.DOTALL)
    values = [json.loads(text) for text in found]
    rule: Any = {"$ref": f"#/components/schemas/{component}"}
    checked = {"type": "array", "items": rule} if is_list else rule
    root = {**json_schema(), **checked}
    assert [value for value in values if not list(jsonschema.Draft7Validator(root).iter_errors(value))]


@functools.cache
def json_schema() -> Any:
    return without_null(schema.document())


def without_null(value: Any) -> Any:
    """OpenAPI 3.0's `nullable` in the words of JSON Schema."""
    if isinstance(value, list):
        return [without_null(each) for each in value]
    if not isinstance(value, dict):
        return value
    plain = {key: without_null(inner) for key, inner in value.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if value.get("nullable") is True else plain


def test_the_uploader_is_the_one_that_the_dashboard_makes() -> None:
    shown = re.findall(r"^```json\n(.*?)^```$", text_of("imagehost/uploaders"), re.MULTILINE | re.DOTALL)
    assert json.loads(shown[0]) == json.loads(uploaders.ALL["sharex"].write("YOUR_KEY"))


def test_a_field_without_a_meaning_and_one_that_is_none_are_refused() -> None:
    with pytest.raises(KeyError, match="has no meaning"):
        tables.fields("Upload", "ok | true | True.")
    with pytest.raises(KeyError, match="has no size"):
        tables.fields("Done", "ok | true | True.\nsize | 1 | Size.")


@pytest.mark.django_db
def test_the_document_can_be_downloaded_in_both_forms(client: Client) -> None:
    import yaml

    as_json, as_yaml = client.get("/docs/openapi.json"), client.get("/docs/openapi.yaml")
    assert yaml.safe_load(as_yaml.content) == json.loads(as_json.content)


def test_the_first_pages_of_many_threads_have_all_their_marks() -> None:
    """The parser fills its tables of rules at the first use, where another thread would find half of them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(20):
            rendering._parser.cache_clear()
            made = together(8, lambda _: rendering.html_of("**Lamps** and `code`"))
            assert set(made) == {"<p><strong>Lamps</strong> and <code>code</code></p>\n"}
    finally:
        sys.setswitchinterval(before)
