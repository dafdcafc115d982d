"""One step of a try, as its page shows it. Holds no secret: what would be one is masked before it comes here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from dashboard import error_guide

SHOWN = 6  # characters of a secret value


@dataclass(frozen=True)
class Line:
    """A name with its value, and a word on what it is for."""

    name: str
    value: str
    meaning: str = ""


@dataclass(frozen=True)
class Check:
    """What was held against the answer."""

    says: str
    holds: bool


@dataclass
class Step:
    """`proves`: what the reader knows when it has gone well. `documents`: pretty JSON by title."""

    title: str
    proves: str
    lines: list[Line] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    documents: list[tuple[str, str]] = field(default_factory=list)
    note: str = ""
    error: dict[str, str] = field(default_factory=dict)

    def check(self, says: str, *, holds: bool) -> None:
        self.checks.append(Check(says, holds))

    def add_document(self, title: str, value: Mapping[str, Any]) -> None:
        """Any: JSON."""
        self.documents.append((title, json.dumps(value, indent=2, ensure_ascii=False)))

    def fails(self, endpoint: str, code: str, description: str) -> None:
        """The error that `endpoint` answered, with the guide's word on it."""
        guide = error_guide.explain(endpoint=endpoint, code=code, description=description)
        self.error = {"code": code, "description": description}
        if guide is not None:
            self.error |= {"cause": guide.cause, "cure": guide.cure}

    @property
    def is_good(self) -> bool:
        return not self.error and all(check.holds for check in self.checks)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "is_good": self.is_good}


def masked(secret: str) -> str:
    """The beginning of a secret value, and how long it is."""
    return f"{secret[:SHOWN]}… ({len(secret)} characters)" if secret else ""
