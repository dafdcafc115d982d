"""Markdown of what the code knows: fields, parameters, errors, settings, scopes, ready code and the API reference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dashboard.client_apps import code_samples, error_guide
from dashboard.client_apps.code_samples import STACKS
from dashboard.documentation import api_errors, schema
from dashboard.documentation.schema import JSON, Operation
from lookup.openapi import ONLY_TRUE
from lookup.shapes.settings_schema import FIELDS
from oidc_provider.applications.scopes import SCOPES

_OAUTH_PLACES = {
    "authorize": ("Authorize, on a page", "Authorize, by redirect to the app", "Every endpoint"),
    "token": ("Token", "Token, introspect, revoke", "Every endpoint"),
    "client": ("Token, introspect, revoke", "Every endpoint"),
    "userinfo": ("User info", "Every endpoint"),
}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return one of GitHub's tables. A cell is Markdown; its line breaks and bars are escaped."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def fields(name: str, block: str, *, form: str = "") -> str:
    """Return the fields of a component, in its order, with type and null as the code has them.

    `block` has a line for each, `name | example | meaning`. `form`, "earlier" or "leaderboard": a field without a line
    is a setting, and the table of all settings says which. Raises KeyError: no line, no such field.
    """
    lines = {line[0]: line[1:] for line in _lines(block)}
    rules = schema.properties(name)
    if unknown := set(lines) - set(rules):
        raise KeyError(f"{name} has no {', '.join(sorted(unknown))}")
    rows = []
    for field, rule in rules.items():
        example, meaning = lines[field] if field in lines else _as_setting(field, form)
        null = "may be null" if rule.get("nullable") else "never"
        rows.append([f"`{field}`", schema.type_of(rule), null, _code(example), _with_choices(meaning, rule)])
    return table(("Field", "Type", "Null", "Example", "Meaning"), rows)


def parameters(operation: str, block: str) -> str:
    """Return the parameters of an operation. `block`: `name | meaning` lines for what the schema does not explain.

    The page says once what the schema repeats about each switch.
    """
    lines = {line[0]: line[1] for line in _lines(block)}
    rows = []
    for each in schema.operation(operation).parameters:
        rule = each["schema"]
        required = "yes" if each.get("required") else "no"
        meaning = _with_choices(lines.get(each["name"]) or each["description"].removesuffix(ONLY_TRUE).rstrip(), rule)
        if "default" in rule:
            meaning += f" Default: `{json.dumps(rule['default'])}`."
        rows.append([f"`{each['name']}`", required, f"{schema.type_of(rule)}, {each['in']}", meaning])
    return table(("Parameter", "Required", "Type", "Rule"), rows)


def errors(*places: str) -> str:
    """Return rows of `api_errors`. Raises KeyError for an unknown place."""
    wanted = [place for place in places if api_errors.TITLES[place]]
    rows = [row for place in wanted for row in api_errors.ERRORS if row.where == place]
    cells = [(str(row.error.status), _code(row.body), row.cause, row.fix) for row in rows]
    return table(("Status", "Body", "Cause", "Fix"), cells)


def all_errors() -> str:
    return "\n\n".join(f"### {title}\n\n{errors(place)}" for place, title in api_errors.TITLES.items())


def oauth_errors(endpoint: str) -> str:
    """Return the errors of one endpoint of the protocol. Raises KeyError."""
    places = _OAUTH_PLACES[endpoint]
    rows = [row for place in places for row in error_guide.ERRORS if row.where == place]
    cells = [(str(row.status), f"`{row.code}`", row.cause, row.fix) for row in rows]
    return table(("Status", "Error", "Cause", "Fix"), cells)


def all_oauth_errors() -> str:
    """Return a heading for each error, so that a link can lead to it: its anchor is the guide's."""
    parts = []
    for row in error_guide.ERRORS:
        heading = ": ".join(part for part in (f"`{row.code}`", row.where, row.said.strip()) if part)
        parts.append(f"### {heading}\n\n- Status: {row.status}\n- Cause: {row.cause}\n- Fix: {row.fix}")
    return "\n\n".join(parts)


def settings() -> str:
    """Return the `settings` of a profile, key by key."""
    parts = []
    for key in dict.fromkeys(field.key for field in FIELDS):
        rules = schema.properties("Profile")["settings"]["properties"][key]["properties"]
        rows = [
            (
                f"`{field.name}`",
                schema.type_of(rules[field.name]),
                _code(json.dumps(field.default)),
                _bounds(rules[field.name]),
                _code(field.earlier) or "none",
                _code(field.leaderboard) or "none",
            )
            for field in FIELDS
            if field.key == key
        ]
        head = ("Field", "Type", "Default", "Values", "Earlier form", "Leaderboard")
        parts.append(f"## `{key}`\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def scopes() -> str:
    rows = [
        (
            f"`{scope.name}`",
            scope.label,
            ", ".join(f"`{claim}`" for claim in scope.claims) or "none; it gives a refresh token",
            "staff unlock it for you" if scope.is_locked else "yourself",
        )
        for scope in SCOPES.values()
    ]
    return table(("Scope", "People read", "Claims", "Registered by"), rows)


def _lines(block: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|", 2)] for line in block.splitlines() if line.strip()]


def _as_setting(name: str, form: str) -> tuple[str, str]:
    for field in FIELDS:
        if form and name == (field.earlier if form == "earlier" else field.leaderboard):
            return json.dumps(field.default), f"Current form: `profile.settings.{field.key}.{field.name}`"
    raise KeyError(f"{name} has no meaning in this block")


def _with_choices(meaning: str, rule: Any) -> str:
    """Add the choices of the schema `rule` to `meaning`, without what the schema generator says about them."""
    meaning = meaning.split("\n\n* `", maxsplit=1)[0]
    found = [value for value in schema.choices(rule) if f"`{value}`" not in meaning]
    return f"{meaning} One of {', '.join(f'`{value}`' for value in found)}." if found else meaning


def _bounds(rule: Any) -> str:
    if found := schema.choices(rule):
        return "empty, " + ", ".join(f"`{value}`" for value in found)
    if "minimum" in rule:
        return f"{rule['minimum']} to {rule['maximum']}"
    if "pattern" in rule:
        return "empty or a color such as `#ff8800`"
    if "maxLength" in rule:
        return f"at most {rule['maxLength']} characters"
    if rule.get("type") == "array":
        return f"at most {rule['maxItems']} items"
    return "`true`, `false`" if rule.get("type") == "boolean" else "an object of plain values"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def reference() -> str:
    """Return the reference: headings of level 2 are tags and "Schemas"; operations and components of level 3."""
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
        yield table(("Parameter", "In", "Type", "Rule"), [_parameter(each) for each in operation.parameters])
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
    yield table(("Status", "Body", "When"), rows)
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
            rule.get("description", "").split("\n\n", maxsplit=1)[0],
        )
        for name, rule in component["properties"].items()
    ]
    return table(("Field", "Type", "Present", "Meaning"), rows)


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
    """Return the type in words, with a link where it is a component."""
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


def stacks() -> str:
    """Return a choice for each stack, with the code of the app's page Code. curl is last: it is not for an app."""
    parts = [":::choices Your stack"]
    for stack in sorted(STACKS, key=lambda stack: stack.name == "curl"):
        parts.append(f"### {stack.title}")
        parts.append(f"```{stack.fence} {stack.file}\n{code_samples.open_code(stack).rstrip()}\n```")
        parts.append("\n".join(f"- {note}" for note in stack.notes))
        if stack.callback_path:
            url = f"{{{{ reader.origin }}}}{code_samples.own_callback(stack)}"
            parts.append(f"Redirect URL to register: `{url}`, with your own host.")
        parts.append(stack.proof)
    return "\n\n".join([*parts, ":::"])
