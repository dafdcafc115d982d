"""axe-core, which finds accessibility errors of a page; and its width."""

from __future__ import annotations

import functools
from typing import Literal

from playwright.sync_api import Page, ViewportSize

from tests.browser.chromium import NARROW, WIDE, scrolls_sideways
from tests.support import node

THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")

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


def problems_of(page: Page, *, scripts: bool = True, at: tuple[ViewportSize, ...] = (WIDE,)) -> list[str]:
    """Return the errors of the open page: its width at 320 px, and in both themes what axe finds, which runs where
    scripts do. The window keeps its size."""
    page.wait_for_load_state()
    before, found = page.viewport_size, []
    for size in at if scripts else ():
        page.set_viewport_size(size)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme)
            found += [f"{theme}, {size['width']} px: {line}" for line in violations(page)]
    page.set_viewport_size(NARROW)
    if scrolls_sideways(page):
        found.append("wider than 320 px")
    page.set_viewport_size(before or WIDE)
    return found
