"""Markdown of what the code knows: fields, parameters, errors, settings, scopes and ready code."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from dashboard.client_apps import code_samples, error_guide
from dashboard.client_apps.code_samples import STACKS
from dashboard.documentation import api_errors, schema
from lookup.openapi import ONLY_TRUE
from lookup.shapes.settings_schema import FIELDS, Field
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

    `block` has a line for each, `name | example | meaning`. `form`, "earlier" or "leaderboard": fields without a line
    are settings, which `settings_of` lists. Raises KeyError: no line, no such field.
    """
    lines = {line[0]: line[1:] for line in _lines(block)}
    rules = schema.properties(name)
    if unknown := set(lines) - set(rules):
        raise KeyError(f"{name} has no {', '.join(sorted(unknown))}")
    rows = []
    for field, rule in rules.items():
        if field in lines:
            example, meaning = lines[field]
            null = "may be null" if rule.get("nullable") else "never"
            rows.append([f"`{field}`", schema.type_of(rule), null, _code(example), _with_choices(meaning, rule)])
        else:
            _as_setting(field, form)
    return table(("Field", "Type", "Null", "Example", "Meaning"), rows)


def settings_of(name: str, form: str) -> str:
    """Return the fields of a component that are settings, in its order, with what the current form calls them."""
    rows = []
    for field, rule in schema.properties(name).items():
        with contextlib.suppress(KeyError):
            setting = _as_setting(field, form)
            cells = (f"`{field}`", schema.type_of(rule), _code(json.dumps(setting.default)))
            rows.append((*cells, f"`{setting.key}.{setting.name}`"))
    return table(("Field", "Type", "Default", "In `profile.settings`"), rows)


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
        if rule.get("default", False) is not False:  # switches are off, which the page says once
            meaning += f" Default: `{json.dumps(rule['default'])}`."
        rows.append([f"`{each['name']}`", required, f"{schema.type_of(rule)}, {each['in']}", meaning])
    return table(("Parameter", "Required", "Type", "Rule"), rows)


def errors(*places: str) -> str:
    """Return rows of `api_errors`. Raises KeyError for an unknown place."""
    wanted = [place for place in places if api_errors.TITLES[place]]
    rows = [row for place in wanted for row in api_errors.ERRORS if row.where == place]
    cells = [(str(row.error.status), _code(row.body), row.cause, row.fix) for row in rows]
    return table(("Status", "Body", "Cause", "Fix"), cells)


def error_guide_of(page: str) -> str:
    """Return a heading and a table for each place of a page of `api_errors.PAGES`. Raises KeyError."""
    return "\n\n".join(f"## {api_errors.TITLES[place]}\n\n{errors(place)}" for place in api_errors.PAGES[page])


def oauth_errors(endpoint: str) -> str:
    """Return the errors of one endpoint of the protocol. Raises KeyError."""
    places = _OAUTH_PLACES[endpoint]
    rows = [row for place in places for row in error_guide.ERRORS if row.where == place]
    cells = [(str(row.status), f"`{row.code}`", row.cause, row.fix) for row in rows]
    return table(("Status", "Error", "Cause", "Fix"), cells)


def oauth_guide_of(page: str) -> str:
    """Return a heading for each error of a page of the guide, so that a link can lead to it by `ErrorGuide.anchor`."""
    return "\n\n".join(
        f"## {_heading(row)}\n\n- Status: {row.status}\n- Cause: {row.cause}\n- Fix: {row.fix}"
        for row in error_guide.ERRORS
        if row.page == f"errors/{page}"
    )


def short_names(page: str) -> dict[str, str]:
    """Return names of the headings of `oauth_guide_of` for a list below the title of the page, by heading."""
    rows = [row for row in error_guide.ERRORS if row.page == page]
    has_one_place = len({row.where for row in rows}) == 1
    return {
        _heading(row): ": ".join(
            filter(
                None, (f"`{row.code}`", "" if has_one_place else row.where, f"{row.said.strip()} …" * bool(row.said))
            )
        )
        for row in rows
    }


def _heading(row: error_guide.ErrorGuide) -> str:
    return ": ".join(part for part in (f"`{row.code}`", row.where, row.said.strip()) if part)


def settings(*keys: str) -> str:
    """Return groups of the `settings` of a profile. Raises KeyError for an unknown one."""
    parts = []
    for key in keys:
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


def _as_setting(name: str, form: str) -> Field:
    """Return the setting that the `form` calls `name`. Raises KeyError."""
    for field in FIELDS:
        if form and name == (field.earlier if form == "earlier" else field.leaderboard):
            return field
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
