"""The last deleted row of a list, kept in the session so that its owner can bring it back."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

from accounts.http import SignedInRequest
from dashboard.profile.kinds import Kind
from lookup.content import Deleted
from lookup.models import Profile

SECONDS = 600
_KEY = "deleted_row"


@dataclass(frozen=True)
class Offer:
    """A row that can be restored. `url`: where the form with its `pk` is sent."""

    pk: str
    name: str
    url: str


def keep(request: SignedInRequest, profile: Profile, kind: Kind, *, pk: str, name: str, deleted: Deleted) -> None:
    request.session[_KEY] = {
        "profile": profile.pk,
        "list": kind.name,
        "pk": pk,
        "name": name,
        "at": int(time.time()),
        "row": asdict(deleted),
    }


def offered(request: SignedInRequest, profile: Profile, kind: Kind) -> Offer | None:
    """Return what the page of the list offers to restore."""
    kept = _kept(request, profile, kind)
    return Offer(kept["pk"], kept["name"], kind.url_of(profile, "restore")) if kept else None


def find(request: SignedInRequest, profile: Profile, kind: Kind, pk: str) -> Deleted | None:
    """Return the deleted row `pk`; None: another one was deleted since, or it was too long ago."""
    kept = _kept(request, profile, kind)
    return Deleted(**kept["row"]) if kept and kept["pk"] == pk else None


def forget(request: SignedInRequest) -> None:
    request.session.pop(_KEY, None)


def _kept(request: SignedInRequest, profile: Profile, kind: Kind) -> dict[str, Any] | None:
    """Return the deletion as `keep` wrote it, if it was in this list. One that is too old is forgotten."""
    kept: dict[str, Any] | None = request.session.get(_KEY)
    if kept and not 0 <= time.time() - kept["at"] <= SECONDS:
        forget(request)
        return None
    return kept if kept and (kept["profile"], kept["list"]) == (profile.pk, kind.name) else None
