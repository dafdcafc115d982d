"""axe-core, which finds what keeps people with disabilities from using a page."""

from __future__ import annotations

import functools

from playwright.sync_api import Page

from tests.support import node

_OPTIONS = {"resultTypes": ["violations"]}


@functools.cache
def _source() -> str:
    return (node.MODULES / "axe-core" / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    """One line for each rule that an element breaks. The script comes by the debugger, which no policy rules."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(_source())
    found = page.evaluate("options => axe.run(document, options)", _OPTIONS)["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:160]} ({_told(node)})"
        for rule in found
        for node in rule["nodes"]
    ]


def _told(node: dict[str, object]) -> str:
    """What axe says of a node, in its own words, in one line."""
    return " ".join(str(node.get("failureSummary", "")).split())[:300]
