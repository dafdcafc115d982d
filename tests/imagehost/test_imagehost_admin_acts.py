"""What staff do with files and usage in the admin: with the right and a reason, through the operations, recorded."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEvent
from imagehost.models import File, State, Usage
from tests.factories.accounts import StaffFactory
from tests.factories.imagehost import FileFactory
from tests.imagehost.staff import helper, messages_of, url_of
from tests.lookup.admin_forms import superuser

pytestmark = pytest.mark.django_db

ACTIONS = [
    ("quarantine", {}, "quarantine_file", "file:quarantined"),
    ("restore", {"quarantined_at": timezone.now()}, "quarantine_file", "file:restored"),
    ("delete", {}, "delete_file", "file:deleted"),
    ("delete", {"quarantined_at": timezone.now()}, "delete_file", "file:deleted"),
]


def is_done(file: File, act: str) -> bool:
    row = File.objects.get(pk=file.pk)
    if act == "delete":
        return row.state == State.DELETED
    return (row.quarantined_at is not None) is (act == "quarantine")


@pytest.mark.parametrize(("act", "columns", "right", "verb"), ACTIONS)
def test_an_action_on_a_file_asks_for_a_reason_and_is_recorded(
    act: str, columns: dict[str, Any], right: str, verb: str
) -> None:
    file = FileFactory(**columns)
    browser, url = helper("view_file", right), f"{url_of('file')}act/{act}/"
    assert f"{url}?id={file.pk}" in browser.get(f"{url_of('file')}{file.pk}/change/").content.decode()
    asked = browser.get(url, {"id": str(file.pk)})
    assert f'name="_selected_action" value="{file.pk}"' in asked.content.decode()
    assert browser.post(url, {"_selected_action": file.pk}).context["form"].errors == {
        "reason": ["This field is required."]
    }
    assert not AuditEvent.objects.exists()
    assert browser.post(url, {"_selected_action": file.pk, "reason": "Reported"}).status_code == 302
    assert is_done(file, act)
    event = AuditEvent.objects.get()
    assert (event.verb, event.reason, event.actor_kind, event.object_id) == (verb, "Reported", "STAFF", str(file.pk))
    assert event.data["owner"] == file.owner_id
    assert Usage.objects.get().used_bytes == (0 if act == "delete" else file.size)


@pytest.mark.parametrize(("act", "columns", "right", "verb"), ACTIONS)
def test_an_action_on_a_file_needs_its_right(act: str, columns: dict[str, Any], right: str, verb: str) -> None:
    file, others = FileFactory(**columns), {"quarantine_file", "delete_file", "change_file", "add_file"} - {right}
    without, url = helper("view_file", *others), f"{url_of('file')}act/{act}/"
    sent = {"_selected_action": file.pk, "reason": "Because"}
    assert (without.get(url, {"id": str(file.pk)}).status_code, without.post(url, sent).status_code) == (403, 403)
    assert f"/act/{act}/" not in without.get(f"{url_of('file')}{file.pk}/change/").content.decode()
    assert f'value="{act}"' not in without.get(url_of("file")).content.decode()
    without.post(url_of("file"), {"action": act, "_selected_action": file.pk})
    assert not is_done(file, act)
    assert not AuditEvent.objects.exists()


def test_a_file_offers_what_can_be_done_with_it() -> None:
    browser = superuser()
    states: list[tuple[dict[str, Any], set[str]]] = [
        ({}, {"quarantine", "delete"}),
        ({"quarantined_at": timezone.now()}, {"restore", "delete"}),
        ({"state": State.PENDING}, set()),
        ({"state": State.DELETED, "owner": None}, set()),
    ]
    for columns, acts in states:
        html = browser.get(f"{url_of('file')}{FileFactory(**columns).pk}/change/").content.decode()
        assert {act for act in ("quarantine", "restore", "delete") if f"/act/{act}/" in html} == acts


@pytest.mark.parametrize("act", ["quarantine", "delete"])
def test_files_of_staff_are_for_superusers(act: str) -> None:
    file, url = FileFactory(owner=StaffFactory()), f"{url_of('file')}act/{act}/"
    sent = {"_selected_action": file.pk, "reason": "Because"}
    refused = helper("view_file", "quarantine_file", "delete_file").post(url, sent)
    assert messages_of(refused) == [f"{file}: Only a superuser may do this to a staff account."]
    assert not is_done(file, act)
    superuser().post(url, sent)
    assert is_done(file, act)


def test_usage_is_counted_again_with_a_reason() -> None:
    file = FileFactory(size=3_000)
    Usage.objects.filter(pk=file.owner_id).update(used_bytes=5_000)
    url = f"{url_of('usage')}act/recount/"
    browser = helper("view_usage", "change_usage")
    assert f"{url}?id={file.owner_id}" in browser.get(f"{url_of('usage')}{file.owner_id}/change/").content.decode()
    assert browser.post(url, {"_selected_action": file.owner_id}).context["form"].errors == {
        "reason": ["This field is required."]
    }
    assert browser.post(url, {"_selected_action": file.owner_id, "reason": "It looks wrong"}).status_code == 302
    assert Usage.objects.get().used_bytes == 3_000
    event = AuditEvent.objects.get()
    assert (event.verb, event.reason, event.actor_kind, event.object_id, event.data) == (
        *("usage:recounted", "It looks wrong", "STAFF", file.owner_id),
        {"wrong_by": 2_000},
    )
    assert helper("view_usage").post(url, {"_selected_action": file.owner_id, "reason": "x"}).status_code == 403
