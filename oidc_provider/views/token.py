"""POST /api/auth/oauth2/token: a code or a refresh token for tokens."""

from django.utils import timezone

from accounts.hot import Answer, Request
from oidc_provider import clients, exchange, request_log
from oidc_provider.errors import InvalidRequest, UnauthorizedClient, UnsupportedGrantType
from oidc_provider.models import RequestKind
from oidc_provider.views import answers, bodies
from oidc_provider.views.protocol import ProtocolEndpoint

GRANTS = {"authorization_code": exchange.exchange_code, "refresh_token": exchange.refresh}
KINDS = {"authorization_code": RequestKind.CODE, "refresh_token": RequestKind.REFRESH}


class Token(ProtocolEndpoint):
    """Client authentication always comes first, whatever the grant."""

    endpoint = "token"
    kind = RequestKind.TOKEN
    http_method_names = ["post"]

    def post(self, request: Request) -> Answer:
        form = bodies.form_of(request)
        request_log.about(kind=KINDS.get(form.get("grant_type")))
        credentials = bodies.credentials_of(request, form)
        grant = GRANTS.get(form.get("grant_type"))
        if grant is not None:
            return answers.answer(request, answers.compact(grant(form, credentials, timezone.now())))
        clients.authenticated_id(credentials)
        if not form.get("grant_type"):
            raise InvalidRequest("Missing parameter: grant_type.")
        if form.get("grant_type") == "client_credentials":
            raise UnauthorizedClient("No app may use the client_credentials grant.")
        raise UnsupportedGrantType("The grants are authorization_code and refresh_token.")
