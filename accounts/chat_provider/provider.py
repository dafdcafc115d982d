"""The provider: its name, and what it asks for."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.providers.discord.provider import DiscordAccount, DiscordProvider

from accounts.chat_provider.adapter import ChatOAuth2Adapter
from accounts.social import PROVIDER


class ChatProvider(DiscordProvider):
    """Asks who somebody is, and nothing more."""

    id = PROVIDER
    name = "Chat platform"
    account_class = DiscordAccount
    oauth2_adapter_class = ChatOAuth2Adapter
    pkce_enabled_default = True

    def get_scope(self) -> list[str]:
        return ["identify"]

    def get_scope_from_request(self, request: Any) -> list[str]:
        """`Any`: the stock one adds what the address names; ours adds nothing."""
        return self.get_scope()

    def get_auth_params_from_request(self, request: Any, action: Any) -> dict[str, str]:
        """As above, with allauth's action."""
        return {}

    def extract_extra_data(self, data: dict[str, str]) -> dict[str, str]:
        """What `link_flow.Identity` holds beside the id."""
        return {"name": data["name"], "avatar_url": data["avatar_url"]}

    def extract_common_fields(self, data: dict[str, str]) -> dict[str, str]:
        return {}

    def extract_email_addresses(self, data: dict[str, str]) -> list[Any]:
        """None, even if the platform sends one. `Any`: allauth's addresses."""
        return []


provider_classes = [ChatProvider]
