"""What the migrations of second secrets do with an installation that has apps."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime, timedelta

import pytest
from django.apps import apps
from django.db import migrations

from oidc_provider.models import OK, Application, RequestKind, UsageCount
from tests.factories.oidc_provider import ApplicationFactory

SET_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = SET_AT + timedelta(hours=5)
MIGRATION = importlib.import_module("oidc_provider.migrations.0006_uses_of_secrets")


@pytest.mark.django_db
def test_a_secret_of_before_was_last_used_in_the_newest_hour_in_which_it_was_accepted() -> None:
    used, unused, known = (ApplicationFactory(secret_changed_at=SET_AT) for _ in range(3))
    Application.objects.filter(pk=known.pk).update(secret_used_at=SET_AT)
    for app, hour, kind, outcome in (
        (used, SET_AT + timedelta(hours=1), RequestKind.REFRESH, OK),
        (used, SET_AT + timedelta(hours=2), RequestKind.INTROSPECT, OK),
        (used, LATER, RequestKind.CODE, "invalid_client"),
        (used, LATER, RequestKind.USERINFO, OK),
        (unused, SET_AT - timedelta(hours=1), RequestKind.CODE, OK),  # by an earlier secret
        (known, LATER, RequestKind.CODE, OK),
    ):
        UsageCount.objects.create(application=app, hour=hour, kind=kind, outcome=outcome, count=1)
    MIGRATION.note_uses(apps, None)
    found = [Application.objects.get(pk=app.pk).secret_used_at for app in (used, unused, known)]
    assert found == [SET_AT + timedelta(hours=2), None, SET_AT]


def test_sign_ins_do_not_wait_for_the_counts_that_are_read() -> None:
    """A new column locks the apps until its migration ends."""
    assert [type(operation) for operation in MIGRATION.Migration.operations] == [migrations.RunPython]
    columns = importlib.import_module("oidc_provider.migrations.0004_second_secret").Migration
    assert not [one for one in columns.operations if isinstance(one, migrations.RunPython)]
