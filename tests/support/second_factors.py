"""An authenticator app, keys without a device and a passkey in software, for tests."""

import json
import time
from hashlib import sha256
from typing import Any

from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import websafe_encode
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

from accounts.models import User

PERIOD = 30  # seconds
ORIGIN = "http://127.0.0.1:8000"


def code_of(secret: str) -> str:
    """What the app shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD)))


def with_app(user: User) -> str:
    """Give the user an authenticator app; its secret."""
    secret: str = generate_totp_secret()
    TOTP.activate(user, secret)
    return secret


def with_key(user: User) -> Authenticator:
    """Give the user a security key that no test can use: only its row counts."""
    data = {"name": "A key", "credential": {"clientExtensionResults": {"credProps": {"rk": False}}}}
    key: Authenticator = Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)
    return key


class Passkey:
    """A passkey of `user` in software. `is_added`: the account has it already."""

    def __init__(self, user: User, *, is_added: bool = True) -> None:
        self._user = user
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._id = b"a credential"
        if is_added:
            credential = json.loads(self.creation({"challenge": "Y2hhbGxlbmdl", "rp": {"id": "127.0.0.1"}}))
            data = {"name": "A passkey", "credential": credential}
            Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)

    def creation(self, options: dict[str, Any]) -> str:
        """Return what a browser sends for the options of a page that adds a passkey, as JSON."""
        public = ES256.from_cryptography_key(self._private.public_key())  # type: ignore[no-untyped-call]  # fido2 has none
        created = self._auth_data(AttestedCredentialData.create(Aaguid.NONE, self._id, public), options["rp"]["id"])
        client_data = CollectedClientData.create("webauthn.create", options["challenge"], ORIGIN)
        response = {
            "clientDataJSON": websafe_encode(client_data),
            "attestationObject": websafe_encode(AttestationObject.create("none", created, {})),
        }
        return json.dumps(self._credential(response))

    def answer(self, options: dict[str, Any]) -> str:
        """Return what a browser sends for the options that the sign-in page fetches, as JSON."""
        client_data = CollectedClientData.create("webauthn.get", options["challenge"], ORIGIN)
        auth_data = self._auth_data(None, options["rpId"])
        signature = self._private.sign(auth_data + client_data.hash, ec.ECDSA(SHA256()))
        response = {
            "clientDataJSON": websafe_encode(client_data),
            "authenticatorData": websafe_encode(auth_data),
            "signature": websafe_encode(signature),
            "userHandle": websafe_encode(user_pk_to_url_str(self._user).encode()),
        }
        return json.dumps(self._credential(response))

    def _auth_data(self, credential: AttestedCredentialData | None, host: str) -> AuthenticatorData:
        flags = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV
        flags |= AuthenticatorData.FLAG.AT if credential else AuthenticatorData.FLAG(0)
        made: AuthenticatorData = AuthenticatorData.create(sha256(host.encode()).digest(), flags, 0, credential or b"")
        return made

    def _credential(self, response: dict[str, str]) -> dict[str, Any]:
        identifier = websafe_encode(self._id)
        return {
            "id": identifier,
            "rawId": identifier,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {"credProps": {"rk": True}},
        }
