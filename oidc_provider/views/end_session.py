"""GET and POST /api/auth/oauth2/end-session: advertised, and not enabled for apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from oidc_provider.errors import EndSessionRefused
from oidc_provider.views.protocol import LimitedView, error_response, prefers_json


class EndSession(LimitedView):
    """Says so, and offers the person their own sign-out button. Nothing changes by coming here."""

    endpoint = "end-session"
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        if prefers_json(request):
            return error_response(EndSessionRefused("Apps cannot end a session here."))
        return render(request, "oidc_provider/end_session.html")

    post = get
