"""What must be true is held by the database: each constraint is provoked by one change to a valid row."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, models, transaction

from accounts import audit
from accounts.models import (
    AccountDeletion,
    ApiKey,
    AuditEvent,
    KeyDay,
    LinkedAccount,
    Name,
    StaffNotice,
    User,
    WebhookDelivery,
    WebhookEndpoint,
)
from accounts.models.names import NameKind
from tests.factories.accounts import (
    AliasFactory,
    ApiKeyFactory,
    LinkedAccountFactory,
    UserFactory,
    WebhookEndpointFactory,
)

pytestmark = pytest.mark.django_db

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
FORM_ID = "0123456789abcdef0123456789abcdef"
MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
# Constraint, table, the changes that it refuses.
REFUSED: list[tuple[str, type[models.Model], dict[str, Any]]] = [
    ("user_unique_username", User, {"username": "OTHER"}),
    ("user_username_characters", User, {"username": "a b"}),
    ("user_uid_not_negative", User, {"uid": -1}),
    ("user_plan_is_known", User, {"plan": "GOLD"}),
    ("user_banned_is_not_active", User, {"banned_at": MOMENT}),
    ("api_key_uses_not_negative", ApiKey, {"remaining_uses": -1}),
    ("api_key_refill_is_whole", ApiKey, {"refill_amount": 5, "refill_interval": HOUR}),
    ("api_key_refill_is_whole", ApiKey, {"refill_amount": 5, "remaining_uses": 5}),
    ("api_key_refill_is_whole", ApiKey, {"refill_interval": HOUR, "remaining_uses": 5}),
    ("api_key_refill_is_whole", ApiKey, {"refill_amount": 0, "refill_interval": HOUR, "remaining_uses": 5}),
    ("api_key_one_for_each_form", ApiKey, {"form_id": FORM_ID}),
    ("key_day_one_for_each_day", KeyDay, {"day": MOMENT.date()}),
    ("key_day_counts_something", KeyDay, {"count": 0}),
    ("account_deletion_has_days_of_grace", AccountDeletion, {"due_at": MOMENT}),
    ("linked_account_one_of_a_kind", LinkedAccount, {"kind": "SCROBBLER"}),
    ("linked_account_belongs_to_one_user", LinkedAccount, {"external_id": "other"}),
    ("linked_account_kind_is_known", LinkedAccount, {"kind": "PAGER"}),
    ("name_key_is_upper_name", Name, {"name": "another"}),
    ("name_has_allowed_characters", Name, {"name": "a b", "key": "A B"}),
    ("name_is_not_reserved", Name, {"name": "api", "key": "API"}),
    ("name_kind_is_known", Name, {"kind": "NICK"}),
    ("audit_actor_kind_is_known", AuditEvent, {"actor_kind": "ROBOT"}),
    ("staff_notice_hidden_once", StaffNotice, {"kind": StaffNotice.Kind.HIDDEN}),
    ("webhook_endpoint_of_one", WebhookEndpoint, {"user": None}),
    ("webhook_endpoint_says_why", WebhookEndpoint, {"disabled_at": MOMENT}),
    ("webhook_endpoint_says_why", WebhookEndpoint, {"disabled_by": "GONE"}),
    ("webhook_delivery_to_one", WebhookDelivery, {"client_id": "app"}),
    ("webhook_delivery_to_one", WebhookDelivery, {"type": "logout"}),
    ("webhook_delivery_to_one", WebhookDelivery, {"endpoint": None, "client_id": "app"}),
    ("name_one_username_for_each_user", Name, {"kind": NameKind.USERNAME}),
]
ACCEPTED: list[tuple[type[models.Model], dict[str, Any]]] = [
    (User, {"username": "ANOTHER", "uid": 100, "plan": "PREMIUM"}),
    (User, {"banned_at": MOMENT, "is_active": False}),
    (ApiKey, {"remaining_uses": 0}),
    (ApiKey, {"refill_amount": 5, "refill_interval": HOUR, "remaining_uses": 5}),
    (ApiKey, {"form_id": FORM_ID[::-1]}),
    (KeyDay, {"day": MOMENT.date() + 2 * DAY, "count": 2}),
    (AccountDeletion, {"due_at": MOMENT + HOUR}),
    (LinkedAccount, {"external_id": "another"}),
    (Name, {"name": "another", "key": "ANOTHER"}),
    (AuditEvent, {"actor_kind": "STAFF"}),
    (StaffNotice, {"kind": StaffNotice.Kind.PICTURE}),
    (WebhookEndpoint, {"disabled_at": MOMENT, "disabled_by": "GONE"}),
    (WebhookDelivery, {"endpoint": None, "client_id": "app", "type": "logout"}),
]


def valid_rows() -> dict[type[models.Model], models.QuerySet[models.Model]]:
    """A valid row of each model, beside rows that it could come into conflict with."""
    other = UserFactory(username="other")
    user = UserFactory(username="person")
    LinkedAccountFactory(user=other, kind="CHAT", external_id="other")
    LinkedAccountFactory(user=user, kind="SCROBBLER", external_id="other")
    ApiKeyFactory(owner=user, form_id=FORM_ID)
    key = ApiKeyFactory(owner=user)
    KeyDay.objects.create(key=key, day=MOMENT.date(), count=1)
    StaffNotice.objects.create(user=user, kind=StaffNotice.Kind.HIDDEN, text="Hidden.")
    endpoint = WebhookEndpointFactory(user=user)
    rows: dict[type[models.Model], models.Model] = {
        User: user,
        ApiKey: key,
        KeyDay: KeyDay.objects.create(key=key, day=MOMENT.date() + DAY, count=1),
        AccountDeletion: AccountDeletion.objects.create(user=user, asked_at=MOMENT, due_at=MOMENT + DAY),
        LinkedAccount: LinkedAccountFactory(user=user, kind="CHAT", external_id="own"),
        Name: AliasFactory(name="nick", user=user),
        AuditEvent: audit.record("user:looked_at", by=user, on=other),
        WebhookEndpoint: endpoint,
        WebhookDelivery: WebhookDelivery.objects.create(endpoint=endpoint, type="test"),
        StaffNotice: StaffNotice.objects.create(user=user, kind=StaffNotice.Kind.WARNING, text="A warning."),
    }
    return {model: model._base_manager.filter(pk=row.pk) for model, row in rows.items()}


@pytest.mark.embedded
def test_each_constraint_refuses_its_change() -> None:
    rows = valid_rows()
    for constraint, model, change in REFUSED:
        with pytest.raises(IntegrityError) as refusal, transaction.atomic():
            rows[model].update(**change)
        # SQLite names the columns of a unique constraint in place of its name.
        assert constraint in str(refusal.value) or (
            connection.vendor == "sqlite" and str(refusal.value).startswith("UNIQUE constraint failed: ")
        )


def test_the_constraints_accept_the_changes_one_thing_apart() -> None:
    rows = valid_rows()
    for model, change in ACCEPTED:
        with transaction.atomic():
            assert rows[model].update(**change) == 1
            transaction.set_rollback(True)


def test_every_constraint_of_accounts_is_provoked_here() -> None:
    held = {
        constraint.name
        for model in apps.get_app_config("accounts").get_models()
        for constraint in model._meta.constraints
    }
    assert held == {name for name, _, _ in REFUSED}
