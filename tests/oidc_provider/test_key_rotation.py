"""The states of a signing key, changed by command: published, signing, replaced, unpublished."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEvent
from oidc_provider.models import SigningKey
from oidc_provider.token import signing
from tests.oidc_provider.protocol import KEY_SET, App, authorize, error_sent_back, parts_of, sent_back

TWO_CACHE_TIMES = timedelta(seconds=600)
ONE_SECOND = timedelta(seconds=1)


def _command(*arguments: str) -> str:
    output = io.StringIO()
    call_command("signing_keys", *arguments, stdout=output)
    return output.getvalue()


def _published() -> list[str]:
    return [key["kid"] for key in Client().get(KEY_SET).json()["keys"]]


def _states() -> dict[str, str]:
    rows: list[dict[str, Any]] = json.loads(_command("list", "--json"))
    return {row["kid"]: row["state"] for row in rows}


def _publish() -> str:
    return _command("publish").split()[0]


def test_a_published_key_stands_in_the_key_set_and_does_not_sign(
    clock: time_machine.Traveller, app: App, browser: Client, signing_key: SigningKey
) -> None:
    clock.shift(ONE_SECOND)
    new = _publish()
    assert _published() == [new, signing_key.kid]
    assert parts_of(app.sign_in(browser)["id_token"])[0]["kid"] == signing_key.kid
    assert _states() == {new: "published", signing_key.kid: "signing"}


def test_a_key_signs_only_after_every_client_can_know_it(
    clock: time_machine.Traveller, signing_key: SigningKey
) -> None:
    new = _publish()
    clock.shift(TWO_CACHE_TIMES - ONE_SECOND)
    with pytest.raises(CommandError, match="cached key set"):
        _command("sign", new)
    assert _states()[signing_key.kid] == "signing"
    clock.shift(ONE_SECOND)
    assert _command("sign", new) == f"{new} signs now.\n"
    assert _states() == {new: "signing", signing_key.kid: "replaced"}


def test_a_key_that_is_not_in_the_key_set_cannot_sign(clock: time_machine.Traveller, signing_key: SigningKey) -> None:
    new = _publish()
    clock.shift(TWO_CACHE_TIMES)
    _command("retire", new)
    assert _published() == [signing_key.kid]
    with pytest.raises(CommandError, match="left the key set"):
        _command("sign", new)
    with pytest.raises(CommandError, match="There is no key unknown"):
        _command("sign", "unknown")


def test_the_new_key_signs_at_once_and_the_old_one_still_verifies(
    clock: time_machine.Traveller, app: App, browser: Client, signing_key: SigningKey
) -> None:
    before = app.sign_in(browser)["id_token"]
    new = _publish()
    clock.shift(TWO_CACHE_TIMES)
    _command("sign", new)
    after = app.sign_in(browser)["id_token"]
    assert parts_of(before)[0]["kid"] == signing_key.kid
    assert parts_of(after)[0]["kid"] == new
    for id_token in (before, after):
        answer = authorize(browser, app.application, prompt="none", id_token_hint=id_token)
        assert "code" in sent_back(answer)


def test_the_old_key_stays_published_until_its_last_id_token_is_dead(
    clock: time_machine.Traveller, app: App, browser: Client, signing_key: SigningKey
) -> None:
    new = _publish()
    clock.shift(TWO_CACHE_TIMES)
    last = app.sign_in(browser)["id_token"]
    _command("sign", new)
    clock.shift(timedelta(hours=10, minutes=1))  # 10 hours, and the time that other processes keep a key
    assert signing_key.kid in _published()
    assert "code" in sent_back(authorize(browser, app.application, prompt="none", id_token_hint=last))
    clock.shift(timedelta(hours=1))
    assert _published() == [new]
    assert _states() == {new: "signing", signing_key.kid: "unpublished"}
    assert error_sent_back(authorize(browser, app.application, state="the state", id_token_hint=last)) == (
        "invalid_request"
    )


def test_the_key_that_signs_cannot_be_retired(signing_key: SigningKey) -> None:
    for force in ([], ["--force"]):
        with pytest.raises(CommandError, match="This key signs"):
            _command("retire", signing_key.kid, *force)
    assert _published() == [signing_key.kid]


def test_retiring_a_replaced_key_does_not_keep_it_longer(
    clock: time_machine.Traveller, signing_key: SigningKey
) -> None:
    new = _publish()
    clock.shift(TWO_CACHE_TIMES)
    _command("sign", new)
    leaves_at = SigningKey.objects.get(kid=signing_key.kid).unpublish_at
    clock.shift(timedelta(hours=5))
    _command("retire", signing_key.kid)
    assert SigningKey.objects.get(kid=signing_key.kid).unpublish_at == leaves_at


def test_a_key_that_signs_again_stays_in_the_key_set(clock: time_machine.Traveller, signing_key: SigningKey) -> None:
    new = _publish()
    clock.shift(TWO_CACHE_TIMES)
    _command("sign", new)
    clock.shift(timedelta(hours=1))
    _command("sign", signing_key.kid)
    clock.shift(timedelta(hours=12))
    assert _published() == [signing_key.kid]
    assert _states() == {signing_key.kid: "signing", new: "unpublished"}


def test_after_a_compromise_force_signs_and_retires_at_once(app: App, browser: Client, signing_key: SigningKey) -> None:
    new = _publish()
    _command("sign", new, "--force")
    _command("retire", signing_key.kid, "--force")
    assert _published() == [new]
    assert parts_of(app.sign_in(browser)["id_token"])[0]["kid"] == new


def test_the_first_key_signs_at_once(db: None) -> None:
    new = _publish()
    assert _command("sign", new) == f"{new} signs now.\n"
    assert signing.signer().kid == new


def test_a_first_start_has_a_key_that_signs_and_a_later_one_keeps_it(db: None) -> None:
    printed = _command("ensure")
    assert printed == f"{signing.signer().kid} signs.\n"
    assert _command("ensure") == printed
    assert list(_states().values()) == ["signing"]


def test_the_list_names_every_key_for_people_too(signing_key: SigningKey) -> None:
    assert _command("list") == f"{signing_key.kid}  signing\n"


def test_the_list_names_a_key_that_cannot_be_decrypted(signing_key: SigningKey, settings: Settings) -> None:
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["another"]
    wrong = "CANNOT BE DECRYPTED: no secret of SIGNING_KEY_ENCRYPTION_KEYS fits"
    assert _command("list") == f"{signing_key.kid}  signing, {wrong}\n"
    assert [row["is_readable"] for row in json.loads(_command("list", "--json"))] == [False]


# --- The secret that encrypts them ---


def _change_of_secret(settings: Settings) -> str:
    """Put a new secret before the old one, and return the new one."""
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new", *settings.SIGNING_KEY_ENCRYPTION_KEYS]
    return "new"


def test_encrypted_anew_the_keys_need_the_old_secret_no_more(
    app: App, browser: Client, signing_key: SigningKey, settings: Settings
) -> None:
    waiting = _publish()
    new_secret = _change_of_secret(settings)
    first = _command("reencrypt").splitlines()
    assert first[-1] == "2 keys changed. The other secrets are no longer needed: remove them."
    assert sorted(line.split()[0] for line in first[:-1]) == sorted([waiting, signing_key.kid])
    settings.SIGNING_KEY_ENCRYPTION_KEYS = [new_secret]
    signing.forget_cached_signer()
    assert parts_of(app.sign_in(browser)["id_token"])[0]["kid"] == signing_key.kid
    assert "CANNOT" not in _command("list")
    assert _command("reencrypt").startswith("0 keys changed.")


def test_each_key_that_is_encrypted_anew_is_audited(signing_key: SigningKey, settings: Settings) -> None:
    _change_of_secret(settings)
    _command("reencrypt")
    (event,) = AuditEvent.objects.filter(verb="signing_key:reencrypted")
    assert (event.object_id, event.actor_kind) == (signing_key.kid, "SYSTEM")
    assert "new" not in json.dumps(event.data)


def test_nothing_changes_where_one_key_cannot_be_decrypted(signing_key: SigningKey, settings: Settings) -> None:
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["of another host"]
    _publish()
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new", "of another host"]
    before = dict(SigningKey.objects.values_list("kid", "private_key"))
    with pytest.raises(CommandError, match=rf"{signing_key.kid} cannot be decrypted.* Nothing was changed\."):
        _command("reencrypt")
    assert dict(SigningKey.objects.values_list("kid", "private_key")) == before
    assert not AuditEvent.objects.filter(verb="signing_key:reencrypted").exists()


def test_a_key_that_left_the_key_set_holds_nothing_up(signing_key: SigningKey, settings: Settings) -> None:
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["lost", *settings.SIGNING_KEY_ENCRYPTION_KEYS]
    gone = _publish()
    _command("retire", gone, "--force")
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["new", *settings.SIGNING_KEY_ENCRYPTION_KEYS[1:]]
    assert _command("reencrypt").splitlines()[0].startswith(f"{signing_key.kid} is encrypted")
    assert signing.encrypted_by_earlier(signing_key.created_at) == [gone]


def test_hosts_of_both_orders_sign_while_the_secret_changes(
    app: App, browser: Client, signing_key: SigningKey, settings: Settings
) -> None:
    (old,) = settings.SIGNING_KEY_ENCRYPTION_KEYS
    steps: list[tuple[list[str], str]] = [
        ([old], ""),
        (["new", old], ""),
        (["new", old], "reencrypt"),
        ([old, "new"], ""),
        (["new"], ""),
    ]
    tokens = app.sign_in(browser)
    for secrets, step in steps:
        settings.SIGNING_KEY_ENCRYPTION_KEYS = secrets
        if step:
            _command(step)
        signing.forget_cached_signer()
        tokens = app.refresh(tokens["refresh_token"]).json()
        assert parts_of(tokens["id_token"])[0]["kid"] == signing_key.kid
