"""The API reference, made of the OpenAPI document: a page for each operation, pages of schemas, and their index."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.documentation import schema
from dashboard.documentation.schema import JSON, Operation
from dashboard.documentation.tables import table

SLUG = "reference"  # of the index; the pages have addresses below it


@dataclass(frozen=True)
class SchemaPage:
    """Components that `roots` refer to, directly or through others, and that no earlier page has."""

    slug: str
    title: str
    summary: str
    roots: tuple[str, ...]


# The last one has all that are left.
SCHEMA_PAGES = (
    SchemaPage("schemas-profile", "Schemas: profile", "The profile of the current lookup.", ("Profile", "User")),
    SchemaPage(
        "schemas-catalogs",
        "Schemas: games, anime, media and music",
        "Sections that show items of a catalog.",
        ("GamesSection", "AnimeSection", "MediaSection", "MusicSection"),
    ),
    SchemaPage("schemas-sections", "Schemas: sections", "The other sections of a profile.", ("Section",)),
    SchemaPage("schemas-presence", "Schemas: presence", "The answer of the presence endpoints.", ("Presence", "Miss")),
    SchemaPage("schemas-lookup", "Schemas: lookup", "The answer of the current lookup.", ("CurrentLookup",)),
    SchemaPage(
        "schemas-earlier-profile",
        "Schemas: profile of the earlier lookup",
        "Its texts, files and settings, flat.",
        ("EarlierProfile",),
    ),
    SchemaPage("schemas-earlier", "Schemas: earlier lookup", "The answer of the earlier lookups.", ("EarlierUser",)),
    SchemaPage("schemas-leaderboards", "Schemas: leaderboards", "The answer of the leaderboards.", ("BoardEntry",)),
    SchemaPage("schemas-image-host", "Schemas: image host and errors", "What the image host answers, and errors.", ()),
)


def sources() -> dict[str, str]:
    """Return the source of each page but the index, by slug."""
    operations = {
        f"{SLUG}/{_name(each)}": f"# {_title(each)}\n\n{each.details['summary']}.\n\n{{{{ operation {each.id} }}}}\n"
        for each in schema.operations()
    }
    components = {
        f"{SLUG}/{page.slug}": f"# {page.title}\n\n{page.summary}\n\n{{{{ schemas {page.slug} }}}}\n"
        for page in SCHEMA_PAGES
    }
    return operations | components


def _name(operation: Operation) -> str:
    return operation.id.replace("_", "-")


def _title(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def _path(page: str) -> str:
    return f"/docs/{SLUG}/{page}"


@functools.cache
def schema_pages() -> dict[str, str]:
    """Return the name of the page of each component."""
    found: dict[str, str] = {}
    for page in SCHEMA_PAGES:
        for name in schema.reachable(page.roots) if page.roots else schema.components():
            found.setdefault(name, page.slug)
    return found


def index() -> str:
    """Return the operations by tag, then the components by page, one line each."""
    by_tag: dict[str, list[str]] = {}
    for each in schema.operations():
        line = f"- [{_title(each)}]({_path(_name(each))}): {each.details['summary']}"
        by_tag.setdefault(each.tag, []).append(line)
    lines = []
    for page in SCHEMA_PAGES:
        lines.append(f"- [{page.title}]({_path(page.slug)})")
        lines += [f"  - {_link(name)}" for name in _components(page.slug)]
    parts = [f"## {tag}\n\n{chr(10).join(found)}" for tag, found in by_tag.items()]
    return "\n\n".join([*parts, "## Schemas\n\n" + "\n".join(lines)])


def operation(name: str) -> str:
    """Return what the page of an operation says. Raises KeyError."""
    return "\n\n".join(_parts_of(schema.operation(name)))


def schemas(page: str) -> str:
    """Return the components of a page."""
    components = schema.components()
    return "\n\n".join(part for name in _components(page) for part in _component(name, components[name]))


def _components(page: str) -> list[str]:
    return [name for name in schema.components() if schema_pages()[name] == page]


def _parts_of(operation: Operation) -> Iterator[str]:
    details = operation.details
    yield f"Operation `{operation.id}`."
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
    yield f"## {name}"
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
        return _link(name)
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


def _link(name: str) -> str:
    return f"[{name}]({_path(schema_pages()[name])}#{name.lower()})"
