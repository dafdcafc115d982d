"""Finds apps and people by what staff have at hand: a name, an id, a number, an address."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery, TextChoices
from django.db.models.functions import Coalesce

from accounts.models import LinkedAccount, Name, User
from oidc_provider.models import Application, Approval

NEW_FOR = timedelta(days=7)
_MAX_UID = 2**63 - 1


class AppState(TextChoices):
    SUSPENDED = "SUSPENDED", "Suspended"
    VERIFIED = "VERIFIED", "Verified"
    NEW = "NEW", "New: 7 days or less"


class Standing(TextChoices):
    BANNED = "BANNED", "Banned"
    STAFF = "STAFF", "Staff"
    UNLOCKED = "UNLOCKED", "With unlocked scopes"


def applications(*, term: str, state: str, now: datetime, with_email: bool) -> QuerySet[Application]:
    """Apps, the newest first, with their owner and `user_count`; all of them where `term` is empty.

    `with_email`: whether the term may be the address of the owner.
    """
    found = Application.objects.select_related("user", "logo").defer("logo__png")
    if term:
        owner = Q(user__in=_people_called(term, with_email=with_email))
        found = found.filter(Q(client_id=term) | Q(name__icontains=term) | owner)
    if state == AppState.SUSPENDED:
        found = found.filter(suspended_at__isnull=False)
    elif state == AppState.VERIFIED:
        found = found.filter(is_verified=True)
    elif state == AppState.NEW:
        found = found.filter(created__gt=now - NEW_FOR)
    counted: QuerySet[Application] = found.annotate(user_count=_number_of(Approval.objects.all(), "application"))
    return counted.order_by("-created", "-pk")


def people(*, term: str, standing: str, with_email: bool) -> QuerySet[User]:
    """People, the newest first, with `app_count`; all of them where `term` is empty."""
    found = User.objects.all()
    if term:
        found = found.filter(pk__in=_people_called(term, with_email=with_email))
    if standing == Standing.BANNED:
        found = found.filter(banned_at__isnull=False)
    elif standing == Standing.STAFF:
        found = found.filter(Q(is_staff=True) | Q(is_superuser=True))
    elif standing == Standing.UNLOCKED:
        found = found.exclude(unlocked_scopes=[])
    return found.annotate(app_count=_number_of(Application.objects.all(), "user")).order_by("-uid")


def _number_of(rows: QuerySet[Any], column: str) -> Coalesce:
    """How many of `rows` point to the row by `column`; counted for the rows of a page alone."""
    mine = rows.filter(**{column: OuterRef("pk")}).order_by().values(column)
    return Coalesce(Subquery(mine.annotate(number=Count("pk")).values("number"), output_field=IntegerField()), 0)


def _people_called(term: str, *, with_email: bool) -> QuerySet[Any, Any]:
    """The ids of people; every part of the union has an index. A name counts from its beginning on, the rest whole.

    Any: rows of one column, out of several tables.
    """
    called: QuerySet[Any, Any] = Name.objects.filter(key__startswith=term.upper()).values_list("user_id")
    parts: list[QuerySet[Any, Any]] = [
        User.objects.filter(pk=term.lower()).values_list("pk"),
        LinkedAccount.objects.filter(kind=LinkedAccount.Kind.CHAT, external_id=term).values_list("user_id"),
    ]
    if term.isascii() and term.isdecimal() and int(term) <= _MAX_UID:
        parts.append(User.objects.filter(uid=int(term)).values_list("pk"))
    if with_email and "@" in term:
        parts.append(EmailAddress.objects.filter(email=term.lower()).values_list("user_id"))
    return called.union(*parts)
