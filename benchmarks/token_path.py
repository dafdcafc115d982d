"""Reads one access token with its app and user, by ORM and by statements.py, interleaved in one run.

Run: .venv/bin/python manage.py shell < benchmarks/token_path.py
on a database with demo data; prints the median of each and the ratio. Nothing is left behind.
"""

import statistics
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from oidc_provider import statements
from oidc_provider.models import AccessToken, Application
from oidc_provider.secret_hasher import digest

ROUNDS, CALLS = 20, 100


def by_orm(checksum: str, now: datetime) -> AccessToken:
    rows = AccessToken.objects.filter(
        token_checksum=checksum, expires__gt=now, application__suspended_at__isnull=True, user__is_active=True
    )
    return (
        rows.select_related("application", "user")
        .prefetch_related("user__emailaddress_set", "user__linked_accounts")
        .get()
    )


def microseconds(read: Callable[[str, datetime], object], checksum: str, now: datetime) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        read(checksum, now)
    return (time.perf_counter() - start) / CALLS * 1e6


with transaction.atomic():
    now, application = timezone.now(), Application.objects.select_related("user").order_by("pk")[0]
    checksum = digest("benchmark")
    AccessToken.objects.create(
        token="", token_checksum=checksum, user=application.user, application=application, scope="openid",
        token_family=uuid.uuid4(), expires=now + timedelta(hours=1),
    )  # fmt: skip
    rounds = [
        (microseconds(by_orm, checksum, now), microseconds(statements.read_access_token, checksum, now))
        for _ in range(ROUNDS)
    ]
    transaction.set_rollback(True)

orm, by_hand = (statistics.median(column) for column in zip(*rounds, strict=True))
print(f"by ORM {orm:.0f} us, by statements.py {by_hand:.0f} us, {orm / by_hand:.1f} times")
