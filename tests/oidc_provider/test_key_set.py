"""The key set, the signatures that it verifies, and the stored keys."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from cryptography.fernet import Fernet
from django.db import IntegrityError, transaction
from django.test import Client
from jwcrypto import jwk, jwt
from pytest_django import Settings

from config.operations import parallel_calls
from oidc_provider.errors import SigningUnavailable
from oidc_provider.models import SigningKey
from oidc_provider.token import signing
from tests.oidc_provider.protocol import ISSUER, KEY_SET, App, code_for, parts_of, refused

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


def test_a_key_that_an_older_secret_encrypted_still_signs(signing_key: SigningKey, settings: Settings) -> None:
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["a newer secret", *settings.SIGNING_KEY_ENCRYPTION_KEYS]
    signing.check()
    assert signing.signer().kid == signing_key.kid


@pytest.mark.django_db(transaction=True)  # health is looked at in threads of its own
def test_an_undecryptable_key_makes_the_service_unready(
    client: Client, signing_key: SigningKey, settings: Settings
) -> None:
    settings.CHAT = replace(settings.CHAT, guild_id="")
    assert client.get(READY).json()["parts"]["signing_key"] == "ok"
    settings.SIGNING_KEY_ENCRYPTION_KEYS = ["another secret"]
    parallel_calls.forget()
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
