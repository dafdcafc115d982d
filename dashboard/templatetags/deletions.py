"""What every page behind login tells about the account."""

from __future__ import annotations

from django import template

from accounts.models import AccountDeletion, User

register = template.Library()


@register.simple_tag
def deletion_of(user: User) -> AccountDeletion | None:
    """The deletion that the person asked for, or None. 1 query."""
    return AccountDeletion.objects.filter(user=user).first()
