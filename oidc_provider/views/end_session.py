"""GET and POST /api/auth/oauth2/end-session: advertised, and not enabled for apps."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.hot import Request
from oidc_provider.errors import EndSessionRefused
from oidc_provider.views import answers
from oidc_provider.views.protocol import LimitedPage, prefers_json


class EndSession(LimitedPage):
    """Says so, and offers the person their own sign-out button. Nothing changes by coming here."""

    endpoint = "end-session"
    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponse:
        if prefers_json(request):
            error = EndSessionRefused("Apps cannot end a session here.")
            return answers.error_answer(Request.of(request), error).to_django()
        return render(request, "oidc_provider/end_session.html")

    post = get
