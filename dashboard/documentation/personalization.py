"""Put the reader's own ids into a page: their newest app, their names, the public part of their keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString

from accounts.models import LinkedAccount, Permission, User
from dashboard.client_apps import code_samples
from oidc_provider.applications import roles

_PLACE = re.compile(r"\{\{ reader\.(\w+) \}\}")
_PLAIN_URL = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:/[A-Za-z0-9._~:/?&=%\[\]-]+\Z"
)  # safe in every language of the samples

EXAMPLES = {
    "client_id": "YOUR_CLIENT_ID",
    "redirect_url": "http://127.0.0.1:3000/callback",
    "username": "ada",
    "uid": "1",
    "user_id": "USER_ID",
    "chat_id": "268473310986240001",
}
_KEYS = {permission: f"{permission.value.rpartition(':')[2]}_key" for permission in Permission}  # such as upload_key


@dataclass(frozen=True)
class Reader:
    """`values`: of every place that a page may have. `own`: the reader's own ones, as (label, value).

    `scopes`: the scopes of the reader's app, for ready code.
    """

    values: dict[str, str]
    own: tuple[tuple[str, str], ...] = ()
    scopes: Sequence[str] = ("openid", "identify")

    @property
    def _places(self) -> dict[str, str]:
        url = self.values["redirect_url"]
        code = code_samples.reader_values(self.values["client_id"], url, self.scopes)
        return {
            **self.values,
            **code,
            "redirect_url_encoded": quote(url, safe=""),
            "origin": code_samples.origin_of(url),
        }

    def fill(self, text: str) -> str:
        """Fill in plain text or Markdown. Raises KeyError: the page asks for an unknown name."""
        places = self._places
        return _PLACE.sub(lambda found: places[found[1]], text)

    def fill_html(self, html: SafeString) -> SafeString:
        places = self._places
        return SafeString(_PLACE.sub(lambda found: escape(places[found[1]]), html))


def visitor() -> Reader:
    keys = {name: f"a key with the permission {permission.value}" for permission, name in _KEYS.items()}
    return Reader(
        {**EXAMPLES, **keys, "whose_app": "placeholders: sign in and register an app to read its values here"}
    )


def of(user: User | AnonymousUser) -> Reader:
    """Return the reader. 3 queries for a signed-in user."""
    if not isinstance(user, User):
        return visitor()
    own = {"username": user.username, "uid": str(user.uid), "user_id": user.pk}
    if app := roles.readable_by(user).order_by("-created", "-pk").first():
        own["client_id"] = app.client_id
        urls = [url for url in app.redirect_urls if _PLAIN_URL.match(url)]  # another one would break a sample
        own |= {"redirect_url": urls[0]} if urls else {}
    if chat := user.linked_accounts.filter(kind=LinkedAccount.Kind.CHAT).first():
        own["chat_id"] = chat.external_id
    live = user.api_keys.live(timezone.now()).order_by("created_at", "pk")
    keys = {Permission(permission): key for key in live for permission in key.permissions}  # the newest of each
    labels = {"client_id": "client_id of your newest app", "username": "Username", "uid": "uid", "user_id": "id"}
    labels |= {"redirect_url": "Redirect URL", "chat_id": "Chat id"}
    shown = [(labels[name], value) for name, value in own.items()]
    shown += [
        (f"Key with {permission.value}", f"{keys[permission].prefix}…") for permission in _KEYS if permission in keys
    ]
    named = {_KEYS[permission]: f"your key {key.prefix}…" for permission, key in keys.items()}
    scopes = app.registered_scopes if app else Reader.scopes
    whose = {"whose_app": "those of your newest app"} if app else {}
    return Reader({**visitor().values, **own, **named, **whose}, tuple(shown), scopes)
