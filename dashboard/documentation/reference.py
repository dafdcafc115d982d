"""The OpenAPI document as a page: every operation by tag, every component, with links between them."""

from __future__ import annotations

import json
from collections.abc import Iterator

from dashboard.documentation import schema, tables
from dashboard.documentation.schema import JSON, Operation


def markdown() -> str:
    """Headings of the second level are tags and "Schemas"; operations and components are of the third."""
    by_tag: dict[str, list[Operation]] = {}
    for operation in schema.operations():
        by_tag.setdefault(operation.tag, []).append(operation)
    parts = []
    for tag, operations in by_tag.items():
        parts.append(f"## {tag}")
        parts += [part for operation in operations for part in _operation(operation)]
    parts.append("## Schemas")
    parts += [part for name, component in schema.components().items() for part in _component(name, component)]
    return "\n\n".join(parts)


def _operation(operation: Operation) -> Iterator[str]:
    details = operation.details
    yield f"### `{operation.method} {operation.path}`"
    yield f"{details['summary']}. Operation `{operation.id}`."
    if details.get("description"):
        yield str(details["description"]).strip()
    if details.get("security"):
        yield f"Key: {_security(details['security'])}."
    if operation.parameters:
        yield tables.table(("Parameter", "In", "Type", "Rule"), [_parameter(each) for each in operation.parameters])
    for media_type, content in details.get("requestBody", {}).get("content", {}).items():
        yield f"Body, `{media_type}`: {_type(content['schema'])}."
        if "properties" in content["schema"]:
            yield _fields(content["schema"])
        yield from _examples(content)
    rows, examples = [], []
    for status, answer in details["responses"].items():
        kinds = [_type(content["schema"]) for content in answer.get("content", {}).values()]
        rows.append((status, ", ".join(kinds) or "no body", answer.get("description") or "The good answer."))
        if status.startswith("2"):
            examples += [example for content in answer.get("content", {}).values() for example in _examples(content)]
    yield tables.table(("Status", "Body", "When"), rows)
    yield from examples


def _component(name: str, component: JSON) -> Iterator[str]:
    yield f"### {name}"
    if component.get("properties"):
        yield _fields(component)
    elif "oneOf" in component:
        yield "One of " + ", ".join(_type(each) for each in component["oneOf"]) + "."
    else:
        yield (
            f"A {component.get('type', 'string')}, one of "
            + ", ".join(f"`{value or 'empty'}`" for value in component.get("enum", []))
            + "."
        )


def _fields(component: JSON) -> str:
    required = set(component.get("required", []))
    rows = [
        (
            f"`{name}`",
            _type(rule) + (" or null" if rule.get("nullable") else ""),
            "always" if name in required else "not always",
            _first_paragraph(rule.get("description", "")),
        )
        for name, rule in component["properties"].items()
    ]
    return tables.table(("Field", "Type", "Present", "Meaning"), rows)


def _parameter(each: JSON) -> tuple[str, ...]:
    rule = each["schema"]
    said = [each.get("description", "")]
    said += ["Required."] if each.get("required") else []
    if values := schema.choices(rule):
        said.append("One of " + ", ".join(f"`{value}`" for value in values) + ".")
    said += [
        f"`{key}`: `{rule[key]}`." for key in ("default", "minimum", "maximum", "maxLength", "pattern") if key in rule
    ]
    return f"`{each['name']}`", each["in"], _type(rule), " ".join(part for part in said if part)


def _type(rule: JSON) -> str:
    """In words, with a link where it is a component."""
    if rule.get("type") == "array":
        return f"array of {_type(rule['items'])}"
    if name := schema.referred(rule):
        return f"[{name}](#{name.lower()})"
    if "oneOf" in rule:
        return " or ".join(_type(each) for each in rule["oneOf"])
    return str(rule.get("format") or rule.get("type", "any"))


def _security(schemes: list[JSON]) -> str:
    known = schema.document()["components"]["securitySchemes"]
    words = []
    for name in (name for scheme in schemes for name in scheme):
        scheme = known[name]
        words.append(f"{scheme['in']} `{scheme['name']}`" if "in" in scheme else "`Authorization: Bearer`")
    return " or ".join(words)


def _examples(content: JSON) -> Iterator[str]:
    for example in content.get("examples", {}).values():
        value = example["value"]
        is_text = isinstance(value, str)
        text = value.rstrip() if is_text else json.dumps(value, indent=2, ensure_ascii=False)
        yield f"```{'text' if is_text else 'json'}\n{text}\n```"


def _first_paragraph(text: str) -> str:
    return text.split("\n\n", maxsplit=1)[0]
