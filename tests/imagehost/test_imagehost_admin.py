"""The image host in the admin: lists and pages, who may see them, and what a browser can send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import AuditEvent, User
from accounts.plans import Plan
from imagehost import media
from imagehost.models import PreviewState, State, Usage
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import DELETION_TOKEN, FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost.staff import cost_of, helper, listed, url_of
from tests.lookup.admin_forms import superuser

pytestmark = pytest.mark.django_db


def usage() -> Usage:
    return Usage.objects.create(owner=UserFactory(), used_bytes=5_000)


MAKE: dict[str, Callable[[], Any]] = {
    "file": lambda: FileFactory(folder=FolderFactory()),
    "folder": lambda: FileFactory(folder=FolderFactory()).folder,
    "folderrule": FolderRuleFactory,
    "usage": usage,
}
every_page = pytest.mark.parametrize("name", MAKE)


@every_page
def test_a_list_costs_the_same_for_one_row_and_for_ten(name: str) -> None:
    browser = superuser()
    MAKE[name]()
    browser.get(url_of(name))
    before = cost_of(browser, url_of(name))
    for _ in range(9):
        MAKE[name]()
    assert cost_of(browser, url_of(name)) == before


@pytest.mark.parametrize("term", ["name", "file name", "beginning", "owner's id"])
def test_a_file_is_found_by(term: str) -> None:
    file = FileFactory(name="Ab12Cd34", original_name="holiday 1.png")
    FileFactory(original_name="work.png")
    terms = {"name": "Ab12Cd34", "file name": "Ab12Cd34.PNG", "beginning": "holi", "owner's id": str(file.owner_id)}
    assert listed(superuser().get(url_of("file"), {"q": terms[term]})) == [file]


@every_page
def test_a_list_is_searched_by_owner_and_odd_terms_break_nothing(name: str) -> None:
    browser, row = superuser(), MAKE[name]()
    MAKE[name]()
    assert listed(browser.get(url_of(name), {"q": row.owner.username.upper()})) == [row]
    for term in ("-1", "9" * 30, "%", '"', "x" * 5000, ".png"):
        assert browser.get(url_of(name), {"q": term}).status_code == 200


@every_page
def test_a_selection_that_no_browser_sends_changes_nothing(name: str) -> None:
    browser, row, url = superuser(), MAKE[name](), url_of(name)
    act = {"file": "quarantine", "usage": "recount"}.get(name, "delete_selected")
    for key in ("a\x00b", "9" * 40):
        sent = {"action": act, "_selected_action": key, "post": "yes"}
        assert browser.post(url, sent).status_code == 302
        if act != "delete_selected":
            sent = {"_selected_action": key, "reason": "Because"}
            assert browser.post(f"{url}act/{act}/", sent).status_code == 404
    assert listed(browser.get(url)) == [row]
    assert not AuditEvent.objects.exists()


def test_files_are_filtered_by_type_state_and_quarantine_and_folders_by_password() -> None:
    browser, url = superuser(), url_of("file")
    png, mp4 = FileFactory(), FileFactory(media=media.MP4, quarantined_at=timezone.now())
    pending = FileFactory(state=State.PENDING)
    assert listed(browser.get(url, {"mime": "video/mp4"})) == [mp4]
    assert listed(browser.get(url, {"state__exact": "PENDING"})) == [pending]
    assert listed(browser.get(url, {"quarantined_at__isempty": "0"})) == [mp4]
    assert set(listed(browser.get(url, {"quarantined_at__isempty": "1"}))) == {png, pending}
    locked, _ = FolderFactory(password="secret"), FolderFactory()
    assert listed(browser.get(url_of("folder"), {"password_hash__isempty": "0"})) == [locked]


def test_the_list_of_folders_counts_stored_files_alone() -> None:
    folder = FolderFactory()
    for state in State:
        FileFactory(folder=folder, state=state)
    FileFactory(folder=folder, quarantined_at=timezone.now())
    [found] = superuser().get(url_of("folder")).context["cl"].result_list
    assert found.stored_files == 2


def test_a_file_links_to_what_is_served_of_it() -> None:
    made, plain = FileFactory(preview_state=PreviewState.MADE), FileFactory()
    away, gone = FileFactory(quarantined_at=timezone.now()), FileFactory(state=State.DELETED, owner=None)
    html = superuser().get(url_of("file")).content.decode()
    for file, has_page, has_preview in (
        (made, True, True),
        (plain, True, False),
        (away, False, False),
        (gone, False, False),
    ):
        assert (f'/files/{file.name}">Page' in html) is has_page
        assert (f'/files/{file.name}/preview.webp">Preview' in html) is has_preview


@every_page
def test_an_object_is_opened_by_staff_who_may_see_it(name: str) -> None:
    row, url = MAKE[name](), url_of(name)
    change = f"{url}{row.pk}/change/"
    viewer, stranger = helper(f"view_{name}"), helper()
    assert (viewer.get(url).status_code, viewer.get(change).status_code) == (200, 200)
    assert viewer.post(change, {}).status_code == 403
    assert viewer.get(f"{url}add/").status_code == 403
    assert viewer.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    for closed in (url, change, f"{url}add/", f"{url}{row.pk}/delete/"):
        assert stranger.get(closed).status_code == 403


@pytest.mark.parametrize("name", ["file", "usage"])
def test_what_is_stored_is_never_written_by_hand(name: str) -> None:
    browser, row, url = superuser(), MAKE[name](), url_of(name)
    before = type(row)._default_manager.filter(pk=row.pk).values().get()
    assert browser.get(f"{url}add/").status_code == 403
    assert browser.post(f"{url}add/", {}).status_code == 403
    assert browser.post(f"{url}{row.pk}/change/", {"state": "DELETED", "used_bytes": "0"}).status_code == 403
    assert browser.post(f"{url}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    browser.post(url, {"action": "delete_selected", "_selected_action": row.pk, "post": "yes"})
    assert type(row)._default_manager.filter(pk=row.pk).values().get() == before
    assert not AuditEvent.objects.exists()


def test_no_page_holds_a_stored_secret() -> None:
    browser, folder, file = superuser(), FolderFactory(password="secret"), FileFactory()
    assert folder.password_hash.startswith("argon2")
    for name, row in (("folder", folder), ("file", file)):
        for url in (url_of(name), f"{url_of(name)}{row.pk}/change/"):
            html = browser.get(url).content.decode()
            assert not any(
                secret in html for secret in ("argon2", folder.password_hash, file.deletion_hash, DELETION_TOKEN)
            )


@pytest.mark.parametrize(
    ("plan", "is_over", "label", "limits"),
    [
        (Plan.FREE, False, "Free", ("1.0", "75.0")),
        (Plan.IMAGEHOST, False, "ImageHost", ("100.0", "250.0")),
        (Plan.PREMIUM, True, "Free", ("1.0", "75.0")),
    ],
)
def test_the_usage_of_a_user_appears_beside_the_limits_of_the_current_plan(
    plan: Plan, is_over: bool, label: str, limits: tuple[str, str]
) -> None:
    row = usage()
    ends_at = timezone.now() if is_over else None
    User.objects.filter(pk=row.owner_id).update(plan=plan, plan_expires_at=ends_at)
    html = superuser().get(f"{url_of('usage')}{row.pk}/change/").content.decode()
    for shown in (label, f"{limits[0]}\xa0GB", f"{limits[1]}\xa0MB", "4.9\xa0KB", "5000"):
        assert f'<div class="readonly">{shown}</div>' in html
