"""The service's own OpenAPI document, as the pages read it."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer

from infrastructure.once import once

JSON = dict[str, Any]  # any part of the document
_REFERENCE = "#/components/schemas/"
_REFERRED = re.compile(rf"{_REFERENCE}(\w+)")


@once
def document() -> JSON:
    """Return the OpenAPI document of everything under /api/ but the protocol's endpoints. Its generator keeps state
    outside, and fails where two threads use it."""
    return dict(SchemaGenerator().get_schema(request=None, public=True))


@once
def permissions() -> dict[tuple[str, str], str]:
    """Return the permission that the key of each endpoint needs, by method and path; "" where no key is needed."""
    generator = SchemaGenerator()
    generator._initialise_endpoints()  # as its `get_schema` does; the document holds no permissions
    found: Any = generator.endpoints  # `Any`: the stubs know three of the four values
    return {(method, path): getattr(view.cls, "permission", None) or "" for path, _, method, view in found}


@functools.cache
def as_yaml() -> bytes:
    return bytes(OpenApiYamlRenderer().render(document(), renderer_context={}))


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    details: JSON

    @property
    def id(self) -> str:
        return str(self.details["operationId"])

    @property
    def tag(self) -> str:
        return str(self.details["tags"][0])

    @property
    def permission(self) -> str:
        return permissions()[self.method, self.path]

    @property
    def parameters(self) -> list[JSON]:
        """Return the required ones first; among each, parameters of the path in its order, of the query, of headers."""
        order = {"path": 0, "query": 1, "header": 2}
        found = self.details.get("parameters", [])
        return sorted(found, key=lambda each: (not each.get("required"), order[each["in"]]))

    @property
    def members(self) -> list[JSON]:
        """Return the members of its body, if that is JSON, in the form of parameters."""
        content = self.details.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            return []
        body = components()[referred(content["application/json"]["schema"])]
        required = body.get("required", [])
        return [
            {"name": name, "in": "body", "required": name in required, "schema": rule}
            for name, rule in body["properties"].items()
        ]


def operations() -> Iterator[Operation]:
    for path, methods in document()["paths"].items():
        for method, details in methods.items():
            yield Operation(method.upper(), path, details)


def operation(name: str) -> Operation:
    """Return an operation by its operationId. Raises KeyError."""
    return {each.id: each for each in operations()}[name]


def components() -> JSON:
    return dict(document()["components"]["schemas"])


def properties(name: str) -> JSON:
    """Return the fields of a component, in its order. Raises KeyError."""
    return dict(components()[name]["properties"])


def referred(rule: JSON) -> str:
    """Return the component that a schema is, or holds; "" for none."""
    reference = str(rule.get("$ref", ""))
    for inner in (*rule.get("allOf", ()), rule.get("items", {})):
        reference = reference or str(inner.get("$ref", ""))
    return reference.removeprefix(_REFERENCE)


def reachable(names: Iterable[str]) -> list[str]:
    """Return `names` and the components that they refer to, directly or through others. Raises KeyError."""
    known, found = components(), dict.fromkeys(names)
    waiting = list(found)
    while waiting:
        inner = _REFERRED.findall(json.dumps(known[waiting.pop()]))
        waiting += [name for name in inner if name not in found]
        found |= dict.fromkeys(inner)
    return list(found)


def used_by(tag: str) -> list[str]:
    """Return the components of what operations with a tag take and answer."""
    found = (name for each in operations() if each.tag == tag for name in _REFERRED.findall(json.dumps(each.details)))
    return reachable(found)


def choices(rule: JSON) -> list[str]:
    """Return the values that a schema names, itself or by the components that it refers to."""
    if "enum" in rule:
        return [str(value) for value in rule["enum"] if value not in ("", None)]
    inner = [*rule.get("oneOf", ()), *rule.get("allOf", ()), *([rule] if "$ref" in rule else [])]
    components_of = [components()[str(each["$ref"]).removeprefix(_REFERENCE)] for each in inner if "$ref" in each]
    return [value for component in components_of for value in choices(component)]


def type_of(rule: JSON) -> str:
    """Return the type in words: `string`, `integer`, `array of Badge`, `Asset`."""
    if rule.get("type") == "array":
        items = rule["items"]
        is_plain = not referred(items) and "type" in items
        return f"array of {type_of(items)}{'s' if is_plain else ''}"
    if choices(rule):
        return "string"
    return referred(rule) or str(rule.get("type", "any"))
