"""What staff answer to requests."""

from __future__ import annotations

from dashboard import access_requests
from dashboard.models import AccessRequest
from dashboard.staff import rights
from dashboard.staff.acts import Act, refused_if, through

_IS_DECIDED = refused_if(lambda request: not request.is_pending, "This request is decided or withdrawn already.")


def _granting(request: AccessRequest) -> list[str]:
    if request.key is not None:
        return [f"The key {request.key.prefix} of {request.user} may call one more surface: {request.subject}."]
    return [f"The apps of {request.user}, today's and later ones, may register the scope {request.subject}."]


ACTS = {
    act.name: act
    for act in (
        Act(
            "grant",
            "Grant",
            "Grant {}",
            "{}: granted.",
            rights.DECIDE,
            _granting,
            _IS_DECIDED,
            through(access_requests.grant, "request"),
            is_harmless=True,
            hint="Who asked reads this, on their page and by e-mail. Kept in the audit trail.",
        ),
        Act(
            "deny",
            "Deny",
            "Deny {}",
            "{}: denied.",
            rights.DECIDE,
            lambda request: [f"{request.user} is told so, with your reason, and may ask again."],
            _IS_DECIDED,
            through(access_requests.deny, "request"),
            hint="Who asked reads this, on their page and by e-mail. Kept in the audit trail.",
        ),
    )
}
