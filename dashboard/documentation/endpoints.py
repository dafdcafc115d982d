"""What the API reference says about endpoints: their index, and the page of each operation."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from django.conf import settings

from dashboard.documentation import contents, programs, reference, schema
from dashboard.documentation.schema import JSON, Operation
from dashboard.documentation.tables import table
from lookup.openapi import ONLY_TRUE

_NO_GUIDES = ("Start", "Quickstarts", "Patterns", "Reference")  # groups; a guide is the page of one endpoint
_REQUEST = re.compile(r"^```request\n((?:(?!```).*\n)*)```$", re.MULTILINE)
_PROTOCOL = re.compile(r"`(\w+ /\S+)` (.+?\.)(?: |$)")  # how the page of a sign-in endpoint begins


# --- The index ---


def index() -> str:
    """Return a table of endpoints for each surface, then the components by page."""
    by_tag: dict[str, list[tuple[str, ...]]] = {}
    for each in schema.operations():
        link = f"[{reference.title_of(each)}]({reference.path_of(reference.name_of(each))})"
        by_tag.setdefault(each.tag, []).append((link, f"{each.details['summary']}.", _permission(each)))
    head = ("Endpoint", "Description", "Permission")
    parts = [f"## {tag}\n\n{table(head, rows)}" for tag, rows in by_tag.items()]
    return "\n\n".join([*parts, _protocol(), f"## Schemas\n\n{_schemas()}"])


def _permission(operation: Operation) -> str:
    if not operation.permission:
        return "none, and no key"
    return "an account key" if operation.permission == "account" else f"`{operation.permission}`"


def _protocol() -> str:
    """Return the sign-in endpoints, which are not in the OpenAPI document."""
    pages = [page for page in contents.pages().values() if page.group == "Sign-in endpoints"]
    found = [(page, match) for page in pages if (match := _PROTOCOL.match(page.summary))]
    rows = [(f"[{match[1]}]({page.path})", f"{match[2][0].upper()}{match[2][1:]}") for page, match in found]
    return f"## Sign-in\n\n{table(('Endpoint', 'Description'), rows)}"


def _schemas() -> str:
    lines = []
    for page in reference.SCHEMA_PAGES:
        lines.append(f"- [{page.title}]({reference.path_of(page.slug)})")
        lines += [f"  - {reference.link_to(name)}" for name in reference.components_of(page.slug)]
    return "\n".join(lines)


# --- The page of an operation ---


def operation(name: str) -> str:
    """Return what the page of an operation says. Raises KeyError."""
    return "\n\n".join(_parts_of(schema.operation(name)))


def _parts_of(operation: Operation) -> Iterator[str]:
    details = operation.details
    if details.get("description"):
        yield str(details["description"]).strip()
    if guide := _guides().get(operation.id):
        yield f"The guide is [{guide[0].title}]({guide[0].path})."
    yield f"- Key: {_key(operation)}\n- Operation in the OpenAPI document: `{operation.id}`"
    yield "## Request"
    if any(_is_switch(each) for each in operation.parameters):
        yield "Each boolean is off; only the exact string `true` enables it."
    if operation.parameters:
        yield table(("Parameter", "Type", "Rule"), [_parameter(each) for each in operation.parameters])
    yield from _body(details.get("requestBody", {}).get("content", {}))
    yield _sample(operation)
    yield "## Answer"
    yield from _answers(details["responses"])


def _key(operation: Operation) -> str:
    if not operation.details.get("security"):
        return "none"
    permission = operation.permission
    kind = "any account key" if permission == "account" else f"a key with the permission `{permission}`"
    return f"{kind}, in {_security(operation.details['security'])}"


def _security(schemes: list[JSON]) -> str:
    known = schema.document()["components"]["securitySchemes"]
    words = []
    for name in (name for scheme in schemes for name in scheme):
        scheme = known[name]
        place = (
            f"the {scheme['in']} `{scheme['name']}`".replace("the query", "the query parameter")
            if "in" in scheme
            else ""
        )
        words.append(place or "the header `Authorization: Bearer`")
    return " or ".join(words)


def _parameter(each: JSON) -> tuple[str, ...]:
    """Return the row of a parameter, or of a field of a body, which has no place in `in`."""
    rule = each["schema"]
    described = each.get("description") or rule.get("description", "").split("\n\n", maxsplit=1)[0]
    said = [described.removesuffix(ONLY_TRUE).rstrip()]
    if values := schema.choices(rule):
        said.append("One of " + ", ".join(f"`{value}`" for value in values) + ".")
    said += [
        f"{word}: `{json.dumps(rule[key]) if key == 'default' else rule[key]}`."
        for key, word in _BOUNDS.items()
        if key in rule and rule[key] is not False  # switches are off by default
    ]
    kind = (
        "string" if values else reference.type_of(rule),
        "or null" * bool(rule.get("nullable")),
        each.get("in", ""),
        "required" * bool(each.get("required")),
    )
    return f"`{each['name']}`", ", ".join(filter(None, kind)), " ".join(part for part in said if part)


def _is_switch(parameter: JSON) -> bool:
    return str(parameter.get("description", "")).endswith(ONLY_TRUE)


_BOUNDS = MappingProxyType(
    {
        "default": "Default",
        "minimum": "Smallest",
        "maximum": "Largest",
        "minItems": "Fewest items",
        "maxItems": "Most items",
        "maxLength": "Most characters",
        "pattern": "Pattern",
    }
)


def _body(content: JSON) -> Iterator[str]:
    for media_type, each in content.items():
        rule = each["schema"]
        yield f"Body, `{media_type}`: {reference.type_of(rule)}."
        inner = rule if "properties" in rule else schema.components().get(schema.referred(rule), {})
        required = inner.get("required", ())
        if rows := [
            _parameter({"name": name, "schema": field, "required": name in required})
            for name, field in inner.get("properties", {}).items()
        ]:
            yield table(("Field", "Type", "Rule"), rows)


def _answers(responses: JSON) -> Iterator[str]:
    rows, examples = [], []
    for status, answer in responses.items():
        content = answer.get("content", {}).values()
        kinds = ", ".join(reference.type_of(each["schema"]) for each in content) or "no body"
        rows.append((status, kinds, answer.get("description") or "The good answer."))
        if status.startswith("2"):
            examples += [example for each in content for example in _examples(each)]
    yield table(("Status", "Body", "When"), rows)
    yield from examples


def _examples(content: JSON) -> Iterator[str]:
    for example in content.get("examples", {}).values():
        value = example["value"]
        is_text = isinstance(value, str)
        text = value.rstrip() if is_text else json.dumps(value, indent=2, ensure_ascii=False)
        yield f"```{'text' if is_text else 'json'}\n{text}\n```"


# --- Samples ---


def _sample(operation: Operation) -> str:
    """Return the request of the guide, which the tests run; without a guide, one made of the document."""
    guide = _guides().get(operation.id)
    request = guide[1] if guide else _request(operation)
    written = ((name, write(request, settings.BASE_URL)) for name, write in programs.LANGUAGES.items())
    return "\n\n".join(f"```{name}\n{program}\n```" for name, program in written)


@functools.cache
def _guides() -> Mapping[str, tuple[contents.Page, programs.Request]]:
    """Return the first page with a request of each operation, and that request."""
    found: dict[str, tuple[contents.Page, programs.Request]] = {}
    operations = [(each, _matcher(each)) for each in schema.operations()]
    for page in (page for page in contents.pages().values() if page.group not in _NO_GUIDES):
        for block in _REQUEST.findall(page.source):
            request = programs.parse(block)
            for each, matcher in operations:
                if request.method == each.method and matcher.fullmatch(request.path):
                    found.setdefault(each.id, (page, request))
    return MappingProxyType(found)


def _matcher(operation: Operation) -> re.Pattern[str]:
    """Return a pattern of paths; in the place of a parameter is a value, a variable or a place for the reader's id."""
    parts = re.split(r"\{\w+\}", operation.path)
    return re.compile(r"(?:\{\{ [\w.]+ \}\}|[^/ ]+)".join(map(re.escape, parts)))


def _request(operation: Operation) -> programs.Request:
    path, query = operation.path, []
    for each in operation.parameters:
        value = _value(each)
        if each["in"] == "path":
            path = path.replace(f"{{{each['name']}}}", value)
        elif each["in"] == "query" and each.get("required"):
            query.append((each["name"], value))
    status = next(status for status in operation.details["responses"] if status.startswith(("2", "3")))
    request = programs.Request(operation.method, path, int(status), query=query)
    schemes = {name for scheme in operation.details.get("security", ()) for name in scheme}
    if schemes:
        header = ("X-API-Key", "$API_KEY") if "apiKey" in schemes else ("Authorization", "Bearer $API_KEY")
        request.headers.append(header)
    content = operation.details.get("requestBody", {}).get("content", {}).get("application/json", {})
    for example in content.get("examples", {}).values():
        request.json = request.json or json.dumps(example["value"], ensure_ascii=False)
    return request


def _value(parameter: JSON) -> str:
    """Return an example of a value, or the name of an environment variable that holds one."""
    rule: dict[str, Any] = parameter["schema"]
    known = (parameter.get("example"), rule.get("example"), *schema.choices(rule), rule.get("default"))
    variable = f"${re.sub(r'(?<=[a-z])(?=[A-Z])', '_', parameter['name']).upper()}"
    found = next((value for value in known if value is not None), variable)
    return ",".join(map(str, found)) if isinstance(found, list) else str(found)
