"""Set-ups for programs that upload: what they hold, how many there can be, and the page that lists their keys."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from allauth.account.app_settings import REAUTHENTICATION_TIMEOUT
from django.contrib.messages import get_messages
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, Permission, User
from tests.dashboard.imagehost.reading import HOME
from tests.dashboard.imagehost.reading import text_of as shown_on
from tests.dashboard.imagehost.uploader_setups import PAGE, confirm, get, key_in, text_of
from tests.factories.accounts import PASSWORD, ApiKeyFactory
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db

ONLY_UPLOAD = [Permission.IMAGEHOST_UPLOAD.value]
UPLOAD = "http://127.0.0.1:8000/api/imagehost/upload"
KINDS = ("sharex", "sharex-earlier", "flameshot", "curl")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.mark.parametrize("kind", KINDS)
@time_machine.travel(NOW, tick=False)
def test_each_download_holds_a_fresh_key_that_can_upload_and_nothing_else(
    browser: Client, user: User, kind: str
) -> None:
    secrets = [key_in(text_of(get(browser, kind))) for _ in range(2)]
    assert len(set(secrets)) == 2
    found = [keys.find(secret) for secret in secrets]
    assert {key.pk for key in found if key} == set(ApiKey.objects.values_list("pk", flat=True))
    titles = {"sharex": "ShareX", "sharex-earlier": "ShareX, earlier form", "flameshot": "Flameshot", "curl": "curl"}
    for key in found:
        assert key is not None
        assert (key.owner, key.permissions, key.name) == (user, ["imagehost:upload"], f"{titles[kind]} 2026-11-21")
        assert (key.expires_at, key.remaining_uses, key.is_enabled, key.revoked_at) == (None, None, True, None)
    events = AuditEvent.objects.filter(verb="api_key:issued")
    assert [(event.actor, event.actor_kind) for event in events] == [(user, "USER")] * 2
    assert not any(secret in str(list(AuditEvent.objects.values())) for secret in secrets)
    later = browser.get(PAGE).content.decode() + str(dict(browser.session))
    assert not any(secret in later for secret in secrets)


def test_the_lines_for_curl_are_shown_once_on_a_page(browser: Client) -> None:
    answer = get(browser, "curl")
    assert problems_of(answer) == []
    secret = key_in(answer.content.decode())
    assert text_of(answer) == (
        "# Once: keep the key in a file that only you can read.\n"
        "(umask 077 && cat >~/.imagehost-upload-key) <<'END'\n"
        f"X-API-Key: {secret}\n"
        "END\n"
        "\n"
        "# Then, for each file:\n"
        f'curl --globoff --header @"$HOME/.imagehost-upload-key" --form file=@picture.png {UPLOAD}\n'
    )
    [button] = page_of(answer).xpath("//button[@data-copy]")
    assert page_of(answer).xpath(f"//*[@id='{button.get('data-copy')}']")[0].text_content() == text_of(answer)
    assert button.get("hidden") is not None  # a script shows it


def test_a_name_of_the_service_breaks_no_set_up(browser: Client, settings: Settings) -> None:
    settings.SITE_NAME = """A "quoted" {name}, Ünï & <b>, it's 100%y"""
    assert json.loads(text_of(get(browser, "sharex")))["Name"] == settings.SITE_NAME


def test_there_are_at_most_twenty_keys_a_day(browser: Client, user: User) -> None:
    ApiKeyFactory(owner=user)  # of another kind
    ApiKeyFactory(owner=user, permissions=["imagehost:upload"], name="My own")  # created on the page of keys
    ApiKeyFactory(permissions=["imagehost:upload"])  # of somebody else
    with time_machine.travel(NOW, tick=False) as clock:
        for number in range(20):
            get(browser, KINDS[number % 4])
            clock.shift(timedelta(minutes=1))
        confirm(browser)
        refused = browser.post(f"{PAGE}sharex/")
        assert (refused.status_code, refused["Location"]) == (302, PAGE)
        assert [str(message) for message in get_messages(refused.wsgi_request)] == [
            "You created 20 keys on this page within a day. Use one that you have, or try again tomorrow."
        ]
        assert ApiKey.objects.filter(owner=user).count() == 22
        clock.move_to(NOW + timedelta(days=1, seconds=-1))
        confirm(browser)
        assert browser.post(f"{PAGE}sharex/").status_code == 302
        clock.move_to(NOW + timedelta(days=1))
        get(browser, "sharex")


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_keys_made_at_once_are_counted_one_by_one(user: User) -> None:
    for _ in range(18):
        ApiKeyFactory(owner=user, permissions=["imagehost:upload"], name="curl 2026-01-02")

    def act(_: int) -> int:
        browser = Client()
        browser.force_login(user)
        confirm(browser)
        return browser.post(f"{PAGE}sharex/").status_code

    assert sorted(together(4, act)) == [200, 200, 302, 302]
    assert ApiKey.objects.filter(owner=user).count() == 20


@pytest.mark.parametrize(
    ("kind", "of_the_form"),
    [
        ("sharex", {"Headers": {"X-API-Key": "KEY"}}),
        (
            "sharex-earlier",
            {"Headers": {"key": "KEY"}, "Arguments": {"key": "KEY"}, "ThumbnailURL": "{json:rawUrl}"},
        ),
    ],
)
def test_the_file_for_sharex_is_exactly_this(browser: Client, kind: str, of_the_form: dict[str, object]) -> None:
    answer = get(browser, kind)
    text = text_of(answer)
    assert json.loads(text.replace(key_in(text), "KEY")) == {
        "Version": "15.0.0",
        "Name": "Hearth",
        "DestinationType": "ImageUploader, FileUploader",
        "RequestMethod": "POST",
        "RequestURL": UPLOAD,
        "Body": "MultipartFormData",
        "FileFormName": "file",
        "URL": "{json:url}",
        "DeletionURL": "{header:X-Deletion-Url}",
        "ErrorMessage": "{json:error} ({json:code})",
        **of_the_form,
    }
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{kind}.sxcu"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_script_for_flameshot_is_a_download(browser: Client) -> None:
    answer = get(browser, "flameshot")
    assert answer.headers["Content-Type"] == "text/x-shellscript; charset=utf-8"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="flameshot-upload.sh"'


def test_the_page_of_a_new_user_says_what_to_do(browser: Client) -> None:
    answer = browser.get(PAGE)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "No keys yet." in shown_on(answer)
    actions = page_of(answer).xpath("//main//form/@action")
    assert actions == [f"{PAGE}{kind}/" for kind in KINDS]


def test_keys_that_were_made_here_are_listed_with_their_last_use(browser: Client, user: User) -> None:
    for kind in KINDS:
        get(browser, kind)
    used = ApiKeyFactory(owner=user, name="curl 2026-01-02", permissions=ONLY_UPLOAD, last_used_at=timezone.now())
    ApiKeyFactory(owner=user, name="curl 2026-01-03", permissions=ONLY_UPLOAD, revoked_at=timezone.now())
    ApiKeyFactory(owner=user, name="My own", permissions=ONLY_UPLOAD)
    ApiKeyFactory(owner=user, name="curl 2026-01-04", permissions=[Permission.ACCOUNT.value])
    ApiKeyFactory(name="curl 2026-01-05", permissions=ONLY_UPLOAD)
    answer = browser.get(PAGE)
    rows = [" ".join(row.text_content().split()) for row in page_of(answer).xpath("//tbody/tr")]
    made = ApiKey.objects.filter(owner=user, name__endswith=f"{timezone.now():%Y-%m-%d}")
    assert (len(rows), made.count(), problems_of(answer)) == (5, 4, [])
    assert all(any(key.prefix in row and row.endswith("Never") for row in rows) for key in made)
    [last] = [row for row in rows if used.prefix in row]
    assert not last.endswith("Never")


def test_the_list_costs_the_same_for_one_key_and_for_ten(browser: Client, user: User) -> None:
    ApiKeyFactory(owner=user, name="curl 2026-01-02", permissions=ONLY_UPLOAD)
    asked = statements.names(lambda: browser.get(PAGE))
    for _ in range(9):
        ApiKeyFactory(owner=user, name="curl 2026-01-02", permissions=ONLY_UPLOAD)
    assert statements.names(lambda: browser.get(PAGE)) == asked


ACTS = [f"{HOME}{act}/" for act in ("files/selected", "files/x/favorite", "rules/1/move", "upload")]
ACTS += [f"{PAGE}{kind}/" for kind in KINDS]


def test_a_login_in_between_leads_back_to_a_page(browser: Client) -> None:
    for path in ACTS:
        answer = browser.get(path)
        assert (answer.status_code, answer["Location"]) in [(302, page) for page in (HOME, f"{HOME}rules/", PAGE)]
    assert not ApiKey.objects.exists()


def test_an_older_login_is_confirmed_first_and_leads_back_to_the_page(browser: Client, user: User) -> None:
    confirm(browser, age=REAUTHENTICATION_TIMEOUT)
    asked = browser.post(f"{PAGE}sharex/")
    assert asked["Location"] == f"/accounts/reauthenticate/?{urlencode({'next': PAGE})}"
    assert not ApiKey.objects.exists()
    assert browser.post(asked["Location"], {"password": PASSWORD})["Location"] == PAGE
    assert not ApiKey.objects.exists()
    assert browser.post(f"{PAGE}sharex/").status_code == 200
    assert ApiKey.objects.filter(owner=user).count() == 1


def test_a_key_that_is_made_here_is_announced_by_mail(
    browser: Client, user: User, mailoutbox: list[EmailMessage], django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a fixture without a type
        get(browser, "curl")
    key, (letter,) = user.api_keys.get(), mailoutbox
    assert (letter.to, "A new API key was created" in letter.subject) == ([user.email], True)
    assert f"{key} ({key.prefix})" in letter.body


def test_what_there_is_not_is_not_found(browser: Client) -> None:
    confirm(browser)
    assert browser.post(f"{PAGE}nothing/").status_code == 404
    assert browser.get(f"{HOME}rules/x/edit/").status_code == 404


@pytest.mark.parametrize("page", ["", "folders/", "rules/", "uploaders/"])
def test_the_navigation_knows_where_one_is(browser: Client, page: str) -> None:
    found = page_of(browser.get(f"{HOME}{page}"))
    assert {link.text_content() for link in found.xpath("//nav//a[@href='/dashboard/imagehost/' and @aria-current]")}
    [tab] = found.xpath("//ul[starts-with(@class, 'tabs')]//a[@aria-current='page']")
    assert tab.get("href") == f"{HOME}{page}"
