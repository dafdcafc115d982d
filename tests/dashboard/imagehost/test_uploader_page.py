"""The page of uploaders: the keys that were made there. What a set-up holds is tested in tests/imagehost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiKey, Permission, User
from tests.dashboard.imagehost.reading import HOME, text_of
from tests.factories.accounts import ApiKeyFactory
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

UPLOADERS = f"{HOME}uploaders/"
ONLY_UPLOAD = [Permission.IMAGEHOST_UPLOAD.value]


def test_the_page_of_a_new_user_says_what_to_do(browser: Client) -> None:
    answer = browser.get(UPLOADERS)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "No keys yet." in text_of(answer)
    actions = page_of(answer).xpath("//main//form/@action")
    assert actions == [f"{UPLOADERS}{kind}/" for kind in ("sharex", "sharex-earlier", "flameshot", "curl")]


def test_keys_that_were_made_here_are_listed_with_their_last_use(browser: Client, user: User) -> None:
    for kind in ("sharex", "sharex-earlier", "flameshot", "curl"):
        browser.post(f"{UPLOADERS}{kind}/")
    used = ApiKeyFactory(owner=user, name="curl 2026-01-02", permissions=ONLY_UPLOAD, last_used_at=timezone.now())
    ApiKeyFactory(owner=user, name="curl 2026-01-03", permissions=ONLY_UPLOAD, revoked_at=timezone.now())
    ApiKeyFactory(owner=user, name="My own", permissions=ONLY_UPLOAD)
    ApiKeyFactory(owner=user, name="curl 2026-01-04", permissions=[Permission.ACCOUNT.value])
    ApiKeyFactory(name="curl 2026-01-05", permissions=ONLY_UPLOAD)
    answer = browser.get(UPLOADERS)
    rows = [" ".join(row.text_content().split()) for row in page_of(answer).xpath("//tbody/tr")]
    made = ApiKey.objects.filter(owner=user, name__endswith=f"{timezone.now():%Y-%m-%d}")
    assert (len(rows), made.count(), problems_of(answer)) == (5, 4, [])
    assert all(any(key.prefix in row and row.endswith("Never") for row in rows) for key in made)
    [last] = [row for row in rows if used.prefix in row]
    assert not last.endswith("Never")


def test_the_list_costs_the_same_for_one_key_and_for_ten(browser: Client, user: User) -> None:
    ApiKeyFactory(owner=user, name="curl 2026-01-02", permissions=ONLY_UPLOAD)
    asked = statements.names(lambda: browser.get(UPLOADERS))
    for _ in range(9):
        ApiKeyFactory(owner=user, name="curl 2026-01-02", permissions=ONLY_UPLOAD)
    assert statements.names(lambda: browser.get(UPLOADERS)) == asked


def test_the_keys_of_a_whole_day_are_counted(browser: Client, user: User) -> None:
    ApiKeyFactory.create_batch(20, owner=user, permissions=ONLY_UPLOAD, name="curl 2026-01-02")
    for age, status in ((timedelta(hours=23, minutes=59), 302), (timedelta(days=1), 200)):
        ApiKey.objects.update(created_at=timezone.now() - age)
        assert browser.post(f"{UPLOADERS}curl/").status_code == status


def test_keys_that_were_created_elsewhere_are_not_counted(browser: Client, user: User) -> None:
    ApiKeyFactory.create_batch(20, owner=user, permissions=ONLY_UPLOAD, name="My own")
    assert browser.post(f"{UPLOADERS}curl/").status_code == 200


def test_the_lines_for_curl_can_be_copied(browser: Client) -> None:
    page = page_of(browser.post(f"{UPLOADERS}curl/"))
    [button] = page.xpath("//button[@data-copy]")
    [lines] = page.xpath(f"//*[@id='{button.get('data-copy')}']")
    assert "X-API-Key: ik_" in lines.text_content()
    assert button.get("hidden") is not None  # a script shows it


ACTS = [f"{HOME}{act}/" for act in ("files/move", "files/choose", "files/x/favorite", "rules/1/move", "upload")]
ACTS += [f"{UPLOADERS}{kind}/" for kind in ("sharex", "sharex-earlier", "flameshot", "curl")]


def test_a_login_in_between_leads_back_to_a_page(browser: Client) -> None:
    for path in ACTS:
        answer = browser.get(path)
        assert (answer.status_code, answer["Location"]) in [(302, page) for page in (HOME, f"{HOME}rules/", UPLOADERS)]
    assert not ApiKey.objects.exists()


def test_what_there_is_not_is_not_found(browser: Client) -> None:
    assert browser.post(f"{UPLOADERS}nothing/").status_code == 404
    assert browser.get(f"{HOME}rules/x/edit/").status_code == 404


@pytest.mark.parametrize("page", ["", "folders/", "rules/", "uploaders/"])
def test_the_navigation_knows_where_one_is(browser: Client, page: str) -> None:
    found = page_of(browser.get(f"{HOME}{page}"))
    assert {link.text_content() for link in found.xpath("//nav//a[@href='/dashboard/imagehost/' and @aria-current]")}
    [tab] = found.xpath("//ul[@class='tabs']//a[@aria-current='page']")
    assert tab.get("href") == f"{HOME}{page}"
