"""GET and POST /api/auth/oauth2/userinfo: the claims that the user approved (OpenID Connect Core §5.3)."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from oidc_provider import userinfo
from oidc_provider.errors import InvalidRequest
from oidc_provider.models import RequestKind
from oidc_provider.views.protocol import FORM, ProtocolView, form_of, json_response


class UserInfo(ProtocolView):
    """1 query: the token with its app and its user."""

    endpoint = "userinfo"
    kind = RequestKind.USERINFO
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        return json_response(userinfo.answer(_header_token(request), timezone.now()))

    def post(self, request: HttpRequest) -> HttpResponse:
        in_header = _header_token(request)
        in_body = form_of(request).get("access_token") if request.content_type == FORM else ""
        if in_header and in_body:
            raise InvalidRequest("Send the access token once.")
        return json_response(userinfo.answer(in_header or in_body, timezone.now()))


def _header_token(request: HttpRequest) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""
