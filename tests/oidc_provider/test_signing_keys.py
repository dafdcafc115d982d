"""Discovery, the key set, the stored keys, and the states of a key, changed by command."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from cryptography.fernet import Fernet
from django.conf import settings as configured
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import resolve
from jwcrypto import jwk, jwt
from pytest_django import Settings

from accounts.models import AuditEvent, WebhookEndpoint
from accounts.webhooks import endpoints, signatures
from config.operations import parallel_calls
from oidc_provider.errors import SigningUnavailable
from oidc_provider.models import SigningKey
from oidc_provider.token import signing
from tests.factories.accounts import UserFactory, WebhookEndpointFactory
from tests.oidc_provider.protocol import (
    DISCOVERY,
    DISCOVERY_OF_RFC_8414,
    ISSUER,
    KEY_SET,
    App,
    authorize,
    code_for,
    error_sent_back,
    parts_of,
    refused,
    sent_back,
)

BOTH = pytest.mark.parametrize("path", [DISCOVERY, DISCOVERY_OF_RFC_8414])
SECRET = ["client_secret_basic", "client_secret_post"]

DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/api/auth/oauth2/authorize",
    "token_endpoint": f"{ISSUER}/api/auth/oauth2/token",
    "userinfo_endpoint": f"{ISSUER}/api/auth/oauth2/userinfo",
    "jwks_uri": f"{ISSUER}/api/auth/jwks",
    "introspection_endpoint": f"{ISSUER}/api/auth/oauth2/introspect",
    "revocation_endpoint": f"{ISSUER}/api/auth/oauth2/revoke",
    "end_session_endpoint": f"{ISSUER}/api/auth/oauth2/end-session",
    "scopes_supported": ["openid", "identify", "email", "connections", "offline_access"],
    "response_types_supported": ["code"],
    "response_modes_supported": ["query"],
    "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["EdDSA"],
    "token_endpoint_auth_methods_supported": SECRET,
    "introspection_endpoint_auth_methods_supported": SECRET,
    "revocation_endpoint_auth_methods_supported": SECRET,
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
    "backchannel_logout_supported": True,
    "backchannel_logout_session_supported": True,
    "claims_supported": [
        *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "sid"),
        *("uid", "name", "preferred_username", "picture", "profile", "email", "email_verified", "connections"),
    ],
    "claims_parameter_supported": False,
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
    "prompt_values_supported": ["none", "login", "consent"],
    "ui_locales_supported": ["en"],
    "service_documentation": f"{ISSUER}/docs",
}


@BOTH
def test_the_document_is_the_documented_one(client: Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert answer.json() == DOCUMENT


def test_a_trailing_slash_is_another_path(client: Client) -> None:
    assert client.get(f"{DISCOVERY}/").status_code == 404


@pytest.mark.parametrize("name", [name for name in DOCUMENT if name.endswith(("_endpoint", "_uri"))])
def test_every_advertised_endpoint_exists(name: str) -> None:
    path = str(DOCUMENT[name]).removeprefix(configured.BASE_URL)
    assert resolve(path).func.__module__.startswith("oidc_provider.")


@pytest.mark.django_db
def test_the_advertised_documentation_can_be_read(client: Client) -> None:
    path = str(DOCUMENT["service_documentation"]).removeprefix(configured.BASE_URL)
    assert client.get(path, follow=True).status_code == 200


READY = "/readyz"


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_key_set_holds_the_public_key_alone(client: Client, signing_key: SigningKey) -> None:
    answer = client.get(KEY_SET)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    x = signing_key.public_key
    assert answer.json() == {
        "keys": [{"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": signing_key.kid, "x": x}]
    }
    assert len(_decoded(x)) == 32
    assert signing_key.kid == jwk.JWK(**answer.json()["keys"][0]).thumbprint()  # RFC 7638


def test_a_new_key_changes_the_tag_of_the_key_set(client: Client, signing_key: SigningKey) -> None:
    known = {"if-none-match": client.get(KEY_SET)["ETag"]}
    assert client.get(KEY_SET, headers=known).status_code == 304
    signing.publish()
    assert client.get(KEY_SET, headers=known).status_code == 200


def test_the_published_key_verifies_an_id_token(app: App, browser: Client, client: Client) -> None:
    id_token = app.sign_in(browser)["id_token"]
    header, _ = parts_of(id_token)
    key = client.get(KEY_SET).json()["keys"][0]
    assert header == {"alg": "EdDSA", "kid": key["kid"], "typ": "JWT"}
    expected = {"iss": ISSUER, "aud": app.application.client_id}
    jwt.JWT(jwt=id_token, key=jwk.JWK(**key), algs=["EdDSA"], check_claims=expected)


def test_the_private_key_is_encrypted_at_rest(signing_key: SigningKey) -> None:
    raw = signing.signer().private_key.private_bytes_raw()
    stored = signing_key.private_key
    for clear in (raw.hex(), base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode().rstrip("=")):
        assert clear not in stored
    assert raw not in base64.urlsafe_b64decode(stored)


def test_a_new_key_is_encrypted_with_the_first_secret(db: None, settings: Settings) -> None:
    first, *_ = settings.SIGNING_KEY_ENCRYPTION_KEYS
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["a newer secret", first]
    signing.ensure_signing_key()
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["a newer secret"]
    signing.check()
    settings.SIGNING_KEY_ENCRYPTION_KEYS = [first]
    with pytest.raises(SigningUnavailable):
        signing.check()


@pytest.mark.django_db(transaction=True)  # health is looked at in threads of its own
def test_an_undecryptable_key_makes_the_service_unready(
    client: Client, signing_key: SigningKey, settings: Settings
) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="")
    assert client.get(READY).json()["parts"]["signing_key"] == "ok"
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["another secret"]
    parallel_calls._runs.clear()
    answer = client.get(READY)
    assert answer.status_code == 503
    assert answer.json()["status"] == "unavailable"
    assert {name: state for name, state in answer.json()["parts"].items() if state != "ok"} == {
        "signing_key": (
            f"The signing key {signing_key.kid} cannot be decrypted: none of SIGNING_KEY_ENCRYPTION_KEYS fits."
        ),
        "presence": "off: CHAT_GUILD_ID names no chat server",
    }


def test_no_key_at_all_makes_the_service_unready(client: Client, db: None) -> None:
    answer = client.get(READY)
    assert answer.status_code == 503
    assert "signing_keys publish" in answer.json()["parts"]["signing_key"]


def test_an_undecryptable_key_uses_up_neither_code_nor_refresh_token(
    app: App, browser: Client, settings: Settings
) -> None:
    refresh_token = app.sign_in(browser)["refresh_token"]
    code = code_for(browser, app.application)
    good = settings.SIGNING_KEY_ENCRYPTION_KEYS
    settings.SIGNING_KEY_ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    signing.forget_cached_signer()
    assert refused(app.exchange(code)) == (500, "server_error")
    assert refused(app.refresh(refresh_token)) == (500, "server_error")
    settings.SIGNING_KEY_ENCRYPTION_KEYS = good
    assert app.exchange(code).status_code == 200
    assert app.refresh(refresh_token).status_code == 200


def test_the_database_holds_at_most_one_key_that_signs(signing_key: SigningKey) -> None:
    other = signing.publish()
    with pytest.raises(IntegrityError), transaction.atomic():
        SigningKey.objects.filter(kid=other.kid).update(is_signing=True)


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
    assert "code" in sent_back(authorize(browser, app.application, prompt="none", id_token_hint=last))


def test_what_a_key_signs_after_it_has_left_the_key_set_is_no_hint(
    clock: time_machine.Traveller, app: App, browser: Client, signing_key: SigningKey
) -> None:
    code_for(browser, app.application)
    old, claims = signing.signer(), {"iss": ISSUER, "sub": str(browser.session["_auth_user_id"])}
    new = _publish()
    clock.shift(TWO_CACHE_TIMES)
    _command("sign", new)
    leaves_at = SigningKey.objects.get(kid=signing_key.kid).unpublish_at
    assert leaves_at is not None
    clock.move_to(leaves_at + ONE_SECOND)

    def hinted(iat: float) -> dict[str, str]:
        hint = old.jwt({**claims, "iat": int(iat)})
        return sent_back(authorize(browser, app.application, prompt="none", id_token_hint=hint))

    assert "code" in hinted(leaves_at.timestamp() - 1)
    assert hinted(leaves_at.timestamp())["error"] == "invalid_request"


def test_a_key_that_is_published_and_has_not_signed_makes_no_hint(
    app: App, browser: Client, signing_key: SigningKey
) -> None:
    code_for(browser, app.application)
    waiting = SigningKey.objects.get(kid=_publish())
    hint = signing.Signer(waiting.kid, signing._decrypted(waiting)).jwt({"iss": ISSUER, "sub": "x", "iat": 1})
    assert error_sent_back(authorize(browser, app.application, id_token_hint=hint)) == "invalid_request"


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
    before = app.sign_in(browser)["id_token"]
    new = _publish()
    _command("sign", new, "--force")
    _command("retire", signing_key.kid, "--force")
    assert _published() == [new]
    assert parts_of(app.sign_in(browser)["id_token"])[0]["kid"] == new
    answer = authorize(browser, app.application, id_token_hint=before)
    assert error_sent_back(answer) == "invalid_request"


def test_the_first_key_signs_at_once(db: None) -> None:
    new = _publish()
    assert _command("sign", new) == f"{new} signs now.\n"
    assert signing.signer().kid == new


def test_a_first_start_has_a_key_that_signs_and_a_later_one_keeps_it(db: None) -> None:
    printed = _command("ensure")
    assert printed == f"{signing.signer().kid} signs.\n"
    assert _command("ensure") == printed
    assert list(_states().values()) == ["signing"]


def test_the_list_names_a_key_that_cannot_be_decrypted(signing_key: SigningKey, settings: Settings) -> None:
    assert _command("list") == f"{signing_key.kid}  signing\n"
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
    events = AuditEvent.objects.filter(verb="signing_key:reencrypted")
    assert {(event.object_id, event.actor_kind) for event in events} == {
        (kid, "SYSTEM") for kid in (waiting, signing_key.kid)
    }
    assert new_secret not in json.dumps([event.data for event in events])


def test_encrypted_anew_webhooks_need_the_old_secret_no_more(signing_key: SigningKey, settings: Settings) -> None:
    person = UserFactory()
    endpoint, lost = WebhookEndpointFactory(user=person), WebhookEndpointFactory(user=UserFactory())
    endpoints.rotate_secret(endpoint=endpoint, by=person)
    endpoint.refresh_from_db()
    secrets = [signatures.decrypted(stored) for stored in (endpoint.secret, endpoint.previous_secret)]
    WebhookEndpoint.objects.filter(pk=lost.pk).update(secret="of another host")
    new_secret = _change_of_secret(settings)
    assert _command("reencrypt").splitlines()[1:-1] == [
        "2 secrets of webhooks are encrypted with it, too.",
        "1 webhooks CANNOT SIGN: no secret fits. Their owners have to rotate theirs.",
    ]
    settings.SIGNING_KEY_ENCRYPTION_KEYS = [new_secret]
    endpoint.refresh_from_db()
    assert [signatures.decrypted(stored) for stored in (endpoint.secret, endpoint.previous_secret)] == secrets
    assert WebhookEndpoint.objects.get(pk=lost.pk).secret == "of another host"
    assert AuditEvent.objects.get(verb="webhook:reencrypted").data == {"count": 2}


def test_a_secret_that_is_rotated_while_all_are_encrypted_anew_stays_rotated(
    signing_key: SigningKey, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = UserFactory()
    endpoint = WebhookEndpointFactory(user=person)
    decrypted, rotated = signatures.decrypted, []
    _change_of_secret(settings)

    def decrypt_before_a_rotation(stored: str) -> str:
        secret = decrypted(stored)
        rotated.append(endpoints.rotate_secret(endpoint=endpoint, by=person))
        return secret

    monkeypatch.setattr(signatures, "decrypted", decrypt_before_a_rotation)
    with pytest.raises(CommandError, match="Run this again"):  # for the old secret, which signs for a day
        _command("reencrypt")
    endpoint.refresh_from_db()
    assert [decrypted(endpoint.secret)] == rotated
    monkeypatch.setattr(signatures, "decrypted", decrypted)
    assert _command("reencrypt").endswith("no longer needed: remove them.\n")


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
