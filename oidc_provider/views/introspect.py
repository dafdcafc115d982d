"""POST /api/auth/oauth2/introspect: whether a token of the calling app still lives (RFC 7662)."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from oidc_provider import introspection
from oidc_provider.models import RequestKind
from oidc_provider.parameters import required
from oidc_provider.views.protocol import ProtocolView, credentials_of, form_of, json_response


class Introspect(ProtocolView):
    """1 query."""

    endpoint = "introspect"
    kind = RequestKind.INTROSPECT
    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        form = form_of(request)
        credentials = credentials_of(request, form)
        description = introspection.describe(credentials, form.get("token"), timezone.now())
        required(form, "token")
        return json_response(description)
