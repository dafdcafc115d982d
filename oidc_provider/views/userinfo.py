"""GET and POST /api/auth/oauth2/userinfo: the claims that the user approved (OpenID Connect Core §5.3)."""

from django.utils import timezone

from accounts.hot import Answer, Request
from oidc_provider import userinfo
from oidc_provider.errors import InvalidRequest
from oidc_provider.models import RequestKind
from oidc_provider.views import answers, bodies
from oidc_provider.views.protocol import ProtocolEndpoint


class UserInfo(ProtocolEndpoint):
    """1 query: the token with its app and its user."""

    endpoint = "userinfo"
    kind = RequestKind.USERINFO
    http_method_names = ["get", "head", "post"]

    def get(self, request: Request) -> Answer:
        return _claims(request, _header_token(request))

    def post(self, request: Request) -> Answer:
        in_header = _header_token(request)
        in_body = bodies.form_of(request).get("access_token") if bodies.is_form(request) else ""
        if in_header and in_body:
            raise InvalidRequest("Send the access token once.")
        return _claims(request, in_header or in_body)


def _claims(request: Request, access_token: str) -> Answer:
    return answers.answer(request, answers.compact(userinfo.answer(access_token, timezone.now())))


def _header_token(request: Request) -> str:
    scheme, _, token = bodies.authorization(request).partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
