"""GET /api/chat/avatar/{userId}: redirects to the current picture of the linked chat account."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from accounts.api_view import ApiView
from accounts.models import LinkedAccount
from lookup import openapi
from lookup.errors import UserNotFound

CACHE_SECONDS = 300
DEFAULT_AVATARS = 6


class ChatAvatar(ApiView):
    """Redirects; needs no key."""

    @openapi.chat_avatar
    def get(self, request: HttpRequest, user_id: str) -> HttpResponse:
        response = HttpResponseRedirect(current_url(user_id))
        response.headers["Cache-Control"] = f"public, max-age={CACHE_SECONDS}"
        return response


def current_url(user_id: str) -> str:
    """Return the picture that the linked chat account last had, or the platform's default one for it.

    Raises UserNotFound: the user does not exist, is banned, has no linked chat account, or has turned public API access
    off without mirroring the picture. 1 query.
    """
    is_shown = Q(user__public_api_access=True) | Q(user__profile_documents__mirrors_chat=True)
    found = LinkedAccount.objects.filter(is_shown, user=user_id, kind=LinkedAccount.Kind.CHAT, user__is_active=True)
    row = next(iter(found.values_list("external_id", "avatar_url")[:1]), None)  # equal for every profile
    if row is None:
        raise UserNotFound
    external_id, avatar_url = row
    number = (int(external_id) >> 22) % DEFAULT_AVATARS if external_id.isdecimal() else 0
    return avatar_url or f"{settings.CHAT_CDN_URL}/embed/avatars/{number}.png"
