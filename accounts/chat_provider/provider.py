"""The provider: its name, what it asks for, and the exchange of code and token, of which nothing is stored."""

from __future__ import annotations

import re
from typing import Any

from allauth.socialaccount.models import SocialLogin, SocialToken
from allauth.socialaccount.providers.base import ProviderException
from allauth.socialaccount.providers.discord.provider import DiscordAccount, DiscordProvider
from allauth.socialaccount.providers.discord.views import DiscordOAuth2Adapter
from allauth.utils import get_request_param
from django.conf import settings
from django.http import HttpRequest

from accounts.linking import link_flow
from accounts.linking.social_adapter import PROVIDER
from infrastructure import http_client
from infrastructure.http_client import NoAnswer

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_SNOWFLAKE = re.compile(r"[1-9][0-9]{16,18}")
_PICTURE = re.compile(r"[A-Za-z0-9_]{1,100}")


class ChatOAuth2Adapter(DiscordOAuth2Adapter):
    """ProviderException: the platform did not answer, or not what it promises; allauth hands it to our adapter."""

    provider_id = PROVIDER

    @property
    def authorize_url(self) -> str:
        return str(settings.CHAT.oauth_authorize_url)

    @property
    def access_token_url(self) -> str:
        return f"{settings.CHAT.api_url}/oauth2/token"

    @property
    def profile_url(self) -> str:
        return f"{settings.CHAT.api_url}/users/@me"

    def get_access_token_data(
        self, request: HttpRequest, app: Any, client: Any, pkce_code_verifier: str | None = None
    ) -> dict[str, str]:
        """Return only the access token: it is used at once, and never refreshed."""
        form = {
            "grant_type": "authorization_code",
            "code": get_request_param(request, "code"),
            "redirect_uri": client.callback_url,
            "client_id": client.consumer_key,
            "client_secret": client.consumer_secret,
            "code_verifier": pkce_code_verifier or "",
        }
        body = _asked("POST", self.access_token_url, data=form)
        token = body.get("access_token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise ProviderException("no token")
        return {"access_token": token}

    def complete_login(self, request: HttpRequest, app: Any, token: SocialToken, **kwargs: Any) -> SocialLogin:
        body = _asked("GET", self.profile_url, bearer=token.token)
        return self.get_provider().sociallogin_from_response(request, _account(body))


def _asked(method: str, url: str, *, data: dict[str, str] | None = None, bearer: str = "") -> dict[str, Any]:
    """Return the object that the platform answers, unchecked."""
    headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {bearer}"} if bearer else {})
    try:
        answer = http_client.read(method, url, headers=headers, form=data, seconds=link_flow.SECONDS)
    except NoAnswer as error:
        raise ProviderException(str(error)) from error
    if answer.status != 200 or not isinstance(answer.body, dict):
        raise ProviderException(f"status {answer.status}")
    return answer.body


def _account(body: dict[str, Any]) -> dict[str, str]:
    """Return id, name and picture of a user object of the platform."""
    external_id, name, picture = body.get("id"), http_client.name_of(body.get("username")), body.get("avatar")
    if not isinstance(external_id, str) or not _SNOWFLAKE.fullmatch(external_id):
        raise ProviderException("no id")
    if not name:
        raise ProviderException("no name")
    url = ""  # of the default picture
    if isinstance(picture, str) and _PICTURE.fullmatch(picture):
        kind = "gif" if picture.startswith("a_") else "png"  # the hash of one that moves begins with `a_`
        url = f"{settings.CHAT_CDN_URL}/avatars/{external_id}/{picture}.{kind}"
    return {"id": external_id, "name": name, "avatar_url": url}


class ChatProvider(DiscordProvider):
    """Asks for the identity of the account, and nothing more."""

    id = PROVIDER
    name = "Chat platform"
    account_class = DiscordAccount
    oauth2_adapter_class = ChatOAuth2Adapter
    pkce_enabled_default = True

    def get_scope(self) -> list[str]:
        return ["identify"]

    def get_scope_from_request(self, request: Any) -> list[str]:
        """Return the scopes, without the ones that the stock method takes from the request's URL."""
        return self.get_scope()

    def get_auth_params_from_request(self, request: Any, action: Any) -> dict[str, str]:
        return {}

    def extract_extra_data(self, data: dict[str, str]) -> dict[str, str]:
        """Return what `link_flow.Identity` holds except the id."""
        return {"name": data["name"], "avatar_url": data["avatar_url"]}

    def extract_common_fields(self, data: dict[str, str]) -> dict[str, str]:
        return {}

    def extract_email_addresses(self, data: dict[str, str]) -> list[Any]:
        """Return no address, even if the platform sends one."""
        return []


provider_classes = [ChatProvider]
