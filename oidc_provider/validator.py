"""Answers the questions that oauthlib asks while it validates an authorization request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749.errors import FatalClientError

from oidc_provider import clients
from oidc_provider.models import Application

if TYPE_CHECKING:
    from oauthlib.common import Request


class ClientDisabled(FatalClientError):
    """The app is suspended: no login page, no redirect."""

    error = "client_disabled"
    description = "This app has been disabled."
    status_code = 403


class Validator(OAuth2Validator):
    """Confidential apps, registered redirect URLs, registered scopes, code with S256, nothing else."""

    def _load_application(self, client_id: str, request: Request) -> Application | None:
        """1 query. The toolkit's own may also fetch metadata documents, which is not for us."""
        if request.client is None:
            request.client = Application.objects.filter(client_id=clients.lookup_id(client_id)).first()
        return request.client

    def validate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        application = self._load_application(client_id, request)
        if application is not None and application.is_suspended:
            raise ClientDisabled(request=request)
        return application is not None

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> None:
        """None: a request must name its redirect_uri even where one URL alone is registered."""

    def validate_response_type(
        self, client_id: str, response_type: str, client: Application, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        return response_type == "code"

    def client_authentication_required(self, request: Request, *args: Any, **kwargs: Any) -> bool:
        return True
