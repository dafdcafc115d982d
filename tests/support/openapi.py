"""The OpenAPI document as JSON Schema."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]  # Any: JSON


def as_json_schema(schema: Any) -> Any:
    """OpenAPI 3.0 says `nullable` for what JSON Schema says with a second type. Any: JSON."""
    if isinstance(schema, list):
        return [as_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: as_json_schema(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain


def schema_of(document: Document, path: str, method: str = "get") -> Document:
    """Return the JSON Schema of the 200 of an operation."""
    content = document["paths"][path][method]["responses"]["200"]["content"]["application/json"]
    whole: Document = as_json_schema({**content["schema"], "components": document["components"]})
    return whole
