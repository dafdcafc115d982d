"""POST /api/auth/oauth2/introspect: whether a token of the calling app still lives (RFC 7662)."""

from django.utils import timezone

from accounts.hot import Answer, Request
from oidc_provider import introspection
from oidc_provider.models import RequestKind
from oidc_provider.parameters import required
from oidc_provider.views import answers, bodies
from oidc_provider.views.protocol import ProtocolEndpoint


class Introspect(ProtocolEndpoint):
    """1 query."""

    endpoint = "introspect"
    kind = RequestKind.INTROSPECT
    http_method_names = ["post"]

    def post(self, request: Request) -> Answer:
        form = bodies.form_of(request)
        credentials = bodies.credentials_of(request, form)
        description = introspection.describe(credentials, form.get("token"), timezone.now())
        required(form, "token")
        return answers.answer(request, answers.compact(description))
