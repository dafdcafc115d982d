"""What views read of a request: a query parameter, and the user behind login."""

from django.http import HttpRequest, QueryDict

from accounts.models import User
from accounts.second_factor import Standing


class SignedInRequest(HttpRequest):
    """For annotations: `login_required` has made sure of the user."""

    user: User
    second_factor: Standing  # of staff, on pages of staff


def single_parameter(query: QueryDict, name: str, default: str = "") -> str | None:
    """Return the query parameter `name`, `default` without one, None where it is repeated: a bad value."""
    values = query.getlist(name)
    if len(values) > 1:
        return None
    return values[0] if values else default
