"""The claims of the scopes, as django-oauth-toolkit's documentation shows it."""

from typing import Any

from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):  # type: ignore[misc]  # the toolkit has no types
    oidc_claim_scope = OAuth2Validator.oidc_claim_scope | {
        "name": "identify",
        "preferred_username": "identify",
        "email": "email",
        "email_verified": "email",
    }

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        """Any: oauthlib's request has no types."""
        user = request.user
        return {
            "name": user.first_name,
            "preferred_username": user.username,
            "email": user.email,
            "email_verified": True,
        }
