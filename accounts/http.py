"""The request that a view behind login receives."""

from django.http import HttpRequest

from accounts.models import User


class SignedInRequest(HttpRequest):
    """For annotations: `login_required` has made sure of the user."""

    user: User
