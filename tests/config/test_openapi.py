"""The OpenAPI document: valid, committed as it is generated, and its examples true to their schemas."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from config import views
from dashboard.documentation import schema
from tests.support.openapi import Document, as_json_schema
from tests.support.threads import together

ROOT = Path(__file__).resolve().parents[2]

EARLIER_LIMITED = {
    **{
        f"/api/leaderboard/{name}": {"200", "304", "400", "403", "404", "429", "503"}
        for name in ("views", "badges", "uid")
    },
    **{
        f"/api/lookup/{path}": {"200", "304", "403", "404", "429", "503"}
        for path in ("username/{username}", "uid/{uid}")
    },
}


@pytest.fixture(scope="module")
def document() -> Document:
    generated: Document = SchemaGenerator().get_schema(request=None, public=True)
    return generated


def test_the_committed_document_is_the_generated_one(tmp_path: Path, settings: Any) -> None:
    """Any: pytest-django's wrapper. `make openapi` writes it anew."""
    settings.SPECTACULAR_SETTINGS = {**settings.SPECTACULAR_SETTINGS, "SERVERS": [{"url": "http://127.0.0.1:8000"}]}
    fresh = tmp_path / "openapi.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(fresh))
    assert fresh.read_text() == (ROOT / "docs" / "openapi.yaml").read_text()


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/api/lookup/presence", {"200", "400", "401", "403", "429", "503"}),
        ("/api/lookup/user", {"200", "304", "400", "401", "403", "404", "429", "503"}),
        ("/api/chat/avatar/{user_id}", {"302", "403", "404", "429", "503"}),
        ("/api/imagehost/gallery", {"200", "400", "401", "403", "429", "503"}),
        ("/api/imagehost/folders", {"200", "401", "403", "429", "503"}),
        ("/api/imagehost/folders/{folder_id}", {"200", "400", "401", "403", "404", "429", "503"}),
        *EARLIER_LIMITED.items(),
    ],
)
def test_an_endpoint_names_every_status_that_it_answers(document: Document, path: str, statuses: set[str]) -> None:
    assert set(document["paths"][path]["get"]["responses"]) == statuses


def test_keys_are_asked_for_where_the_endpoints_look(document: Document) -> None:
    def security(path: str) -> Any:
        return document["paths"][path]["get"].get("security", [])

    assert security("/api/lookup/user") == [{"apiKey": []}]
    assert security("/api/leaderboard/uid") == [{"accountKeyQuery": []}, {"accountKeyBearer": []}]
    assert security("/api/chat/avatar/{user_id}") == []
    assert set(document["components"]["securitySchemes"]) == {"apiKey", "accountKeyQuery", "accountKeyBearer"}


def test_every_example_is_true_to_its_schema(document: Document) -> None:
    checked = 0
    for path, methods in document["paths"].items():
        for status, response in _responses(methods):
            for content in response.get("content", {}).values():
                schema = {**content["schema"], "components": document["components"]}
                for example in content.get("examples", {}).values():
                    jsonschema.validate(as_json_schema(example["value"]), as_json_schema(schema))
                    checked += 1
                assert status != "401" or content["examples"], path
    assert checked > 40


def test_a_body_with_a_required_field_is_required_itself(document: Document) -> None:
    optional: list[tuple[str, str]] = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            body = operation.get("requestBody", {"content": {}})
            schemas = [content["schema"] for content in body["content"].values()]
            named = [
                document["components"]["schemas"].get(one.get("$ref", "").rpartition("/")[2], one) for one in schemas
            ]
            if not body.get("required") and any(one.get("required") for one in named):
                optional.append((path, method))
    assert optional == []


def _responses(methods: Document) -> list[tuple[str, Any]]:
    """Status and description of each answer of a path's methods."""
    return [answer for operation in methods.values() for answer in operation["responses"].items()]


@pytest.mark.django_db
def test_the_service_shows_its_document(client: Client, document: Document) -> None:
    response = client.get("/docs/openapi.json")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/vnd.oai.openapi+json"
    assert json.loads(response.content)["paths"].keys() == document["paths"].keys()


def test_concurrent_first_requests_get_the_whole_document() -> None:
    """The generator keeps state outside itself, and fails where two threads use it. The documentation reads it, too."""
    for kept in (views._openapi_document, schema.document, schema.as_yaml):
        kept.cache_clear()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        paths = ["/docs/openapi.json", "/docs/openapi.json", "/docs/openapi.yaml", "/docs/openapi.json"]
        answers = together(len(paths), lambda number: Client().get(paths[number]))
    finally:
        sys.setswitchinterval(before)
    assert [answer.status_code for answer in answers] == [200] * len(paths)
    assert json.loads(answers[0].content) == schema.document()
    assert len({answer.content for answer in answers}) == 2
