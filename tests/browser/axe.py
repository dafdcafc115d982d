"""axe-core, which finds accessibility errors of a page."""

from __future__ import annotations

import functools

from playwright.sync_api import Page

from tests.support import node

# Without `preload`: for sheets that import others it inserts inline styles, which the policy forbids.
_OPTIONS = {"resultTypes": ["violations"], "preload": False}


@functools.cache
def _source() -> str:
    return (node.MODULES / "axe-core" / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    """Return one line for each broken rule. The debugger inserts the script, which the policy does not concern."""
    if not page.evaluate("typeof window.axe === 'object'"):
        page.evaluate(_source())
    found = page.evaluate("options => axe.run(document, options)", _OPTIONS)["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:160]} ({_summary_of(node)})"
        for rule in found
        for node in rule["nodes"]
    ]


def _summary_of(node: dict[str, object]) -> str:
    """Return the message of axe about a node in one line."""
    return " ".join(str(node.get("failureSummary", "")).split())[:300]
