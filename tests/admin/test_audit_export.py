"""The audit trail as a file: what is in it, how it is read, who may have it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import audit, users
from accounts.api_keys import keys
from accounts.models import AuditEvent, User
from oidc_provider.applications import applications
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db
PAGE = "/admin/accounts/auditevent/export/"
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
PERIOD = ("--since", "2026-03-01", "--until", "2026-03-02")


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("export_audit", *arguments, stdout=out)
    return out.getvalue()


def event(verb: str = "user:banned", at: datetime = MARCH, **fields: Any) -> AuditEvent:
    made = audit.event(verb, by=None, on=UserFactory())
    for name, value in {"created_at": at, **fields}.items():
        setattr(made, name, value)
    made.save(force_insert=True)
    return made


def verbs(text: str) -> list[str]:
    return [json.loads(line)["verb"] for line in text.splitlines()]


def test_a_line_is_an_event_with_its_fields_in_order() -> None:
    made = event(
        actor_name="Boss", actor_kind="STAFF", reason="Spam, “again”", data={"sessions_ended": 1}, address="::1"
    )
    expected = {
        "id": made.pk,
        "created_at": "2026-03-01T00:00:00+00:00",
        "actor_id": None,
        "actor_name": "Boss",
        "actor_kind": "STAFF",
        "verb": "user:banned",
        "object_type": "accounts.user",
        "object_id": made.object_id,
        "object_name": made.object_name,
        "reason": "Spam, “again”",
        "data": {"sessions_ended": 1},
        "address": "::1",
    }
    (line,) = run(*PERIOD).splitlines()
    assert line == json.dumps(expected, ensure_ascii=False)
    head, row = csv.reader(io.StringIO(run(*PERIOD, "--format", "csv")))
    assert head == list(expected)
    cells = {**expected, "id": str(made.pk), "actor_id": "", "data": '{"sessions_ended": 1}'}
    assert dict(zip(head, row, strict=True)) == cells


def test_days_are_whole_and_in_utc_and_the_last_one_is_included() -> None:
    for hours in (-0.001, 0, 47.999, 48):
        event(f"a:{hours}", MARCH + timedelta(hours=hours))
    assert verbs(run("--since", "2026-03-01")) == ["a:0", "a:47.999", "a:48"]
    assert verbs(run(*PERIOD)) == ["a:0", "a:47.999"]


@pytest.mark.parametrize(
    ("action", "found"),
    [
        ("user", ["user:banned", "user:renamed"]),
        ("user:", ["user:banned", "user:renamed"]),
        ("user:banned", ["user:banned"]),
    ],
)
def test_an_action_is_a_verb_or_what_it_is_about(action: str, found: list[str]) -> None:
    for verb in ("user:banned", "username:taken", "user:renamed"):
        event(verb)
    assert verbs(run(*PERIOD, "--action", action)) == found


def test_batches_leave_nothing_out_and_repeat_nothing(monkeypatch: Any) -> None:
    monkeypatch.setattr(audit, "BATCH", 3)
    made = [event(f"a:{number}", MARCH + timedelta(seconds=number // 4)).verb for number in range(10)]
    with CaptureQueriesContext(connection) as queries:
        assert verbs(run(*PERIOD)) == made
    reads = [query["sql"] for query in queries if query["sql"].startswith("SELECT")]
    assert len(reads) == 4
    assert all("LIMIT 3" in sql and "OFFSET" not in sql for sql in reads)


def test_events_of_an_earlier_time_with_a_higher_id_come_in_order(monkeypatch: Any) -> None:
    monkeypatch.setattr(audit, "BATCH", 2)
    for seconds in (5, 3, 4, 3):
        event(f"a:{seconds}", MARCH + timedelta(seconds=seconds))
    assert verbs(run(*PERIOD)) == ["a:3", "a:3", "a:4", "a:5"]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        (" =1", "' =1"),
        ("1=1", "1=1"),
    ],
)
def test_no_cell_is_a_formula(text: str, cell: str) -> None:
    event(reason=text)
    _, row = csv.reader(io.StringIO(run(*PERIOD, "--format", "csv")))
    assert row[audit.FIELDS.index("reason")] == cell
    assert json.loads(run(*PERIOD))["reason"] == text


def test_an_export_is_an_audit_event(staff: User) -> None:
    run(*PERIOD, "--action", "user")
    made = AuditEvent.objects.get()
    assert (made.verb, made.actor_kind, made.object_name) == ("audit:exported", "SYSTEM", "Audit trail")
    assert made.data == {
        "since": "2026-03-01T00:00:00+00:00",
        "until": "2026-03-03T00:00:00+00:00",
        "action": "user",
        "format": "jsonl",
    }


def test_no_secret_is_in_it() -> None:
    boss, ada = StaffFactory(), UserFactory()
    secrets = [users.reset_password(user=ada, by=boss, reason="Lost")]
    secrets.append(keys.issue(owner=ada, permissions=["account"], by=boss).secret)
    secrets.append(applications.reset_secret(application=ApplicationFactory(user=ada), by=boss))
    ada.refresh_from_db()
    secrets.append(ada.password)
    text = run("--since", "2000-01-01") + run("--since", "2000-01-01", "--format", "csv")
    assert "user:password_reset" in text
    assert "api_key:issued" in text
    assert [secret for secret in secrets if secret in text] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"), [(("--since", "yesterday"), "yesterday is no day"), ((), "--since")]
)
def test_a_mistake_is_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        run(*arguments)
    assert not AuditEvent.objects.exists()


class TestPage:
    def test_staff_with_the_permission_get_a_file(self, helper_with: Callable[..., Client]) -> None:
        made, browser = event(reason="=1+1"), helper_with("accounts.export_auditevent", "accounts.view_auditevent")
        assert PAGE in browser.get("/admin/accounts/auditevent/").content.decode()
        assert browser.get(PAGE).status_code == 200
        data = {"since": "2026-03-01", "until": "2026-03-01", "format": "csv", "action": ""}
        answer = browser.post(PAGE, data)
        assert answer["Content-Type"] == "text/csv; charset=utf-8"
        assert answer["Content-Disposition"].startswith('attachment; filename="audit-')
        assert "no-store" in answer["Cache-Control"]
        assert answer.streaming
        rows = list(csv.reader(io.StringIO(b"".join(answer).decode())))
        assert [row[0] for row in rows] == ["id", str(made.pk)]
        export = AuditEvent.objects.get(verb="audit:exported")
        assert (export.actor_kind, export.data["format"]) == ("STAFF", "csv")

    def test_others_get_none(self, helper_with: Callable[..., Client]) -> None:
        browser = helper_with("accounts.view_auditevent")
        assert PAGE not in browser.get("/admin/accounts/auditevent/").content.decode()
        data = {"since": "2026-03-01", "format": "csv"}
        assert [browser.get(PAGE).status_code, browser.post(PAGE, data).status_code] == [403, 403]
        assert not AuditEvent.objects.exists()

    def test_a_bad_day_is_said_beside_its_field(self, browser: Client) -> None:
        answer = browser.post(PAGE, {"since": "soon", "format": "csv"})
        assert "Enter a valid date." in answer.content.decode()
        assert not AuditEvent.objects.exists()
