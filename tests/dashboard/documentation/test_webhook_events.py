"""The page of the events of webhooks names what there is."""

from __future__ import annotations

import re
from pathlib import Path

from accounts.models import EventType
from lookup.models import Report
from oidc_provider.applications.scopes import SCOPES

PAGE = Path("dashboard/documentation/pages/patterns/webhook-events.md")


def _heads() -> set[str]:
    heads = re.findall(r"^### (.+)$", PAGE.read_text(), re.MULTILINE)
    return {event for head in heads for event in head.split(", ")}


def test_it_has_each_event_under_a_heading_and_no_other() -> None:
    assert _heads() == set(EventType.values)


def test_it_has_each_word_that_an_event_can_hold() -> None:
    text = PAGE.read_text()
    words = [*Report.Reason.values, *Report.Outcome.values]
    assert [word for word in words if f"`{word.lower()}`" not in text] == []
    for scope in SCOPES.values():
        if changeable := [claim for claim in scope.claims if claim not in {"sub", "uid"}]:
            assert f"| `{scope.name}` | {', '.join(f'`{claim}`' for claim in changeable)} |" in text
