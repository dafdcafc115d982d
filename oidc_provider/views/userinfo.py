"""GET and POST /api/auth/oauth2/userinfo: the claims that the user approved (OpenID Connect Core §5.3)."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from oidc_provider import claims, statements
from oidc_provider.errors import InsufficientScope, InvalidRequest, InvalidToken, MissingToken
from oidc_provider.secret_hasher import digest
from oidc_provider.views.protocol import FORM, ProtocolView, form_of, json_response


class UserInfo(ProtocolView):
    """1 query: the token with its app and its user."""

    endpoint = "userinfo"
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._answer(_header_token(request))

    def post(self, request: HttpRequest) -> HttpResponse:
        in_header = _header_token(request)
        in_body = form_of(request).get("access_token") if request.content_type == FORM else ""
        if in_header and in_body:
            raise InvalidRequest("Send the access token once.")
        return self._answer(in_header or in_body)

    def _answer(self, access_token: str) -> HttpResponse:
        if not access_token:
            raise MissingToken("Send the access token as Authorization: Bearer.")
        found = statements.read_access_token(digest(access_token), timezone.now())
        if found is None:
            raise InvalidToken("The access token is unknown, expired or revoked.")
        scopes, subject = found
        if "openid" not in scopes:
            raise InsufficientScope("The access token lacks the scope openid.")
        return json_response(claims.of(subject, scopes))


def _header_token(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
