"""Browser sessions of a user."""

from allauth.usersessions.models import UserSession
from django.db import transaction

from accounts import audit
from accounts.models import User


@transaction.atomic
def end(*, session: UserSession, by: User | None) -> None:
    """Sign this one browser out."""
    audit.record("user:session_ended", by=by, on=session.user)
    session.end()


def end_all(user: User) -> int:
    """Sign the user out everywhere; the number of sessions.

    Every login leaves a UserSession row, whatever its method; ending it deletes the session itself too.
    """
    rows = list(UserSession.objects.filter(user=user).order_by("pk"))
    for row in rows:
        row.end()
    return len(rows)
