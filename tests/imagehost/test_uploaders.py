"""Set-ups for programs that upload: what they hold, and how many there can be. Elsewhere programs upload with them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.messages import get_messages
from django.test import Client
from pytest_django import Settings

from accounts.api_keys import keys
from accounts.models import ApiKey, AuditEvent, User
from tests.factories.accounts import ApiKeyFactory
from tests.imagehost.uploader_setups import PAGE, get, key_in, text_of
from tests.pages.markup import problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db

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
        refused = browser.post(f"{PAGE}sharex/")
        assert (refused.status_code, refused["Location"]) == (302, PAGE)
        assert [str(message) for message in get_messages(refused.wsgi_request)] == [
            "You created 20 keys on this page within a day. Use one that you have, or try again tomorrow."
        ]
        assert ApiKey.objects.filter(owner=user).count() == 22
        clock.move_to(NOW + timedelta(days=1, seconds=-1))
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
