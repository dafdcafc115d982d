"""Our use of allauth's social accounts: signed-in users link them, and no one signs in by them."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.base import AuthError, AuthProcess
from django.conf import settings
from django.http import HttpRequest

from accounts.linking import link_flow
from accounts.linking.link_flow import CHAT, Identity

logger = logging.getLogger(__name__)
PROVIDER = "chat"


class SocialAccountAdapter(DefaultSocialAccountAdapter):
    """No sign-in or sign-up by an outside account; no email address is taken from one.

    What came back becomes a `LinkedAccount`, and allauth's own `SocialAccount` is not kept: lookups, claims and
    deletion know the one table, and a second one would soon say something else.
    """

    def list_apps(
        self, request: HttpRequest, provider: str | None = None, client_id: str | None = None
    ) -> list[SocialApp]:
        """Return the app of the settings, without rows of allauth's table. Empty where none is set up."""
        app = SocialApp(
            provider=PROVIDER, client_id=settings.CHAT.oauth_client_id, secret=settings.CHAT.oauth_client_secret
        )
        is_asked_for = provider in {None, PROVIDER} and client_id in {None, app.client_id}
        return [app] if app.client_id and is_asked_for else []

    def list_providers(self, request: HttpRequest) -> list[Any]:
        """Return no providers for the pages of login and sign-up."""
        return []

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> NoReturn:
        """Link the account, which proved itself, in place of what allauth would do now."""
        if sociallogin.state.get("process") != AuthProcess.CONNECT:
            raise ImmediateHttpResponse(link_flow.end(request, link_flow.ASKED_TOO_LATE, CHAT))
        identity = Identity(external_id=sociallogin.account.uid, **sociallogin.account.extra_data)
        raise ImmediateHttpResponse(link_flow.finish(request, CHAT, identity))

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,
        error: str | None = None,
        exception: Exception | None = None,
        extra_context: dict[str, Any] | None = None,
    ) -> NoReturn:
        text = link_flow.ASKED_TOO_LATE
        if error == AuthError.CANCELLED:
            text = link_flow.NOT_ALLOWED
        elif exception is not None:
            logger.warning("The chat platform gave no account to link: %s", exception)
            text = link_flow.NOT_ANSWERING
        raise ImmediateHttpResponse(link_flow.end(request, text, CHAT))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        return False

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        return False

    def is_email_verified(self, provider: Any, email: str) -> bool:
        return False
