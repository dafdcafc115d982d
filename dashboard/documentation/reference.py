"""The pages of the API reference, made of the OpenAPI document: one for each operation, and pages of schemas."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.html import escape
from django.utils.safestring import SafeString

from dashboard.documentation import schema
from dashboard.documentation.schema import JSON, Operation
from dashboard.documentation.tables import table

SLUG = "reference"  # of the index; the pages have addresses below it


@dataclass(frozen=True)
class SchemaPage:
    """Components that `roots` refer to, directly or through others, and that no earlier page has.

    `tag`: of operations whose other components stand here too.
    """

    slug: str
    title: str
    summary: str
    roots: tuple[str, ...]
    tag: str = ""


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
    SchemaPage(
        "schemas-presence",
        "Schemas: presence",
        "The answers of the presence endpoints.",
        ("Presence", "Miss", "Presences", "StreamToken"),
    ),
    SchemaPage("schemas-lookup", "Schemas: lookup", "The answer of the current lookup.", ("CurrentLookup",), "Lookup"),
    SchemaPage(
        "schemas-lookups",
        "Schemas: lookup of several users",
        "Its request and its answer.",
        ("LookupBatchRequest", "LookupResults"),
    ),
    SchemaPage(
        "schemas-earlier-profile",
        "Schemas: profile of the earlier lookup",
        "Its texts, files and settings, flat.",
        ("EarlierProfile",),
    ),
    SchemaPage("schemas-earlier", "Schemas: earlier lookup", "The answer of the earlier lookups.", ("EarlierUser",)),
    SchemaPage("schemas-leaderboards", "Schemas: leaderboards", "The answer of the leaderboards.", ("BoardEntry",)),
    SchemaPage(
        "schemas-image-host", "Schemas: image host and errors", "What the image host answers, and errors.", ("Error",)
    ),
)


def sources() -> dict[str, str]:
    """Return the source of each page but the index, by slug."""
    operations = {
        f"{SLUG}/{name_of(each)}": (
            f"# {title_of(each)}\n\n{each.details['summary']}.\n\n{{{{ operation {each.id} }}}}\n"
        )
        for each in schema.operations()
    }
    components = {
        f"{SLUG}/{page.slug}": f"# {page.title}\n\n{page.summary}\n\n{{{{ schemas {page.slug} }}}}\n"
        for page in SCHEMA_PAGES
    }
    return operations | components


def name_of(operation: Operation) -> str:
    return operation.id.replace("_", "-")


def title_of(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


def path_of(page: str) -> str:
    return f"/docs/{SLUG}/{page}"


_ENDPOINT = re.compile(r"(GET|POST|PUT|PATCH|DELETE) (/\S*)")


def labelled(text: str) -> SafeString:
    """Return text as HTML. A method and a path have a label, and places where the path may be broken."""
    if not (found := _ENDPOINT.fullmatch(text)):
        return escape(text)
    path = str(escape(found[2])).replace("/", "/<wbr>")
    return SafeString(f'<span class="method method--{found[1].lower()}">{found[1]}</span> {path}')


@functools.cache
def schema_pages() -> dict[str, str]:
    """Return the name of the page of each component."""
    found: dict[str, str] = {}
    for page in SCHEMA_PAGES:
        found = dict.fromkeys(schema.reachable(page.roots), page.slug) | found
    for page in (page for page in SCHEMA_PAGES if page.tag):
        found = dict.fromkeys(schema.used_by(page.tag), page.slug) | found
    return dict.fromkeys(schema.components(), SCHEMA_PAGES[-1].slug) | found


def schemas(page: str) -> str:
    """Return the components of a page."""
    components = schema.components()
    return "\n\n".join(part for name in components_of(page) for part in _component(name, components[name]))


def components_of(page: str) -> list[str]:
    return [name for name in schema.components() if schema_pages()[name] == page]


def _component(name: str, component: JSON) -> Iterator[str]:
    yield f"## {name}"
    if component.get("properties"):
        yield fields_of(component)
    elif "oneOf" in component:
        yield "One of " + ", ".join(type_of(each) for each in component["oneOf"]) + "."
    elif "enum" in component:
        choices = ", ".join(f"`{value or 'empty'}`" for value in component["enum"])
        yield f"A {component.get('type', 'string')}, one of {choices}."
    else:
        yield f"{type_of(component)}.".capitalize()


def fields_of(component: JSON) -> str:
    required = set(component.get("required", []))
    rows = [
        (
            f"`{name}`",
            type_of(rule) + (" or null" if rule.get("nullable") else ""),
            "always" if name in required else "not always",
            rule.get("description", "").split("\n\n", maxsplit=1)[0],
        )
        for name, rule in component["properties"].items()
    ]
    return table(("Field", "Type", "Present", "Meaning"), rows)


def type_of(rule: JSON) -> str:
    """Return the type in words, with a link where it is a component."""
    if rule.get("type") == "array":
        return f"array of {type_of(rule['items'])}"
    if name := schema.referred(rule):
        return link_to(name)
    if "oneOf" in rule:
        return " or ".join(type_of(each) for each in rule["oneOf"])
    if isinstance(values := rule.get("additionalProperties"), dict):
        return f"object of {type_of(values)}"
    return str(rule.get("format") or rule.get("type", "any"))


def link_to(name: str) -> str:
    return f"[{name}]({path_of(schema_pages()[name])}#{name.lower()})"
