"""POST /api/auth/oauth2/revoke: discards a token early (RFC 7009)."""

from accounts.hot import Answer, Request
from oidc_provider import clients, tokens
from oidc_provider.models import RequestKind
from oidc_provider.parameters import required
from oidc_provider.views import answers, bodies
from oidc_provider.views.protocol import ProtocolEndpoint


class Revoke(ProtocolEndpoint):
    """200 with an empty body whether or not there was such a token: the app wanted it gone, and it is."""

    endpoint = "revoke"
    kind = RequestKind.REVOKE
    http_method_names = ["post"]

    def post(self, request: Request) -> Answer:
        form = bodies.form_of(request)
        application_id = clients.authenticated_id(bodies.credentials_of(request, form))
        required(form, "token")
        tokens.revoke(form.get("token"), application_id)
        return answers.answer(request, b"")
