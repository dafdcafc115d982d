"""The endpoints token, introspect, revoke and userinfo."""

from infrastructure.requests.request_context import Answer, Request
from oidc_provider import client_requests, endpoints, request_log, revocation
from oidc_provider.client_requests import Credentials, Parameters
from oidc_provider.endpoints import Endpoint
from oidc_provider.errors import InvalidRequest, UnauthorizedClient, UnsupportedGrantType
from oidc_provider.models import RequestKind
from oidc_provider.token import operations

# By grant type: the kind in the request log, and the function that answers.
GRANTS = {
    "authorization_code": (RequestKind.CODE, operations.exchange),
    "refresh_token": (RequestKind.REFRESH, operations.refresh),
}


class Token(Endpoint):
    """Client authentication comes first, for every grant."""

    endpoint = "token"
    kind = RequestKind.TOKEN
    http_method_names = ["post"]

    def post(self, request: Request) -> Answer:
        form = client_requests.form_of(request)
        grant = GRANTS.get(form.get("grant_type"))
        if grant is not None:
            kind, respond = grant
            request_log.about(kind=kind)
            response = respond(form, _credentials(request, form), request.now)
            return endpoints.answer(request, endpoints.compact(response))
        credentials = _credentials(request, form)
        client_requests.authenticated_id(credentials)
        if not form.get("grant_type"):
            raise InvalidRequest("Missing parameter: grant_type.")
        if form.get("grant_type") == "client_credentials":
            raise UnauthorizedClient("No app may use the client_credentials grant.")
        raise UnsupportedGrantType("The grants are authorization_code and refresh_token.")


class Introspect(Endpoint):
    """1 query."""

    endpoint = "introspect"
    kind = RequestKind.INTROSPECT
    http_method_names = ["post"]

    def post(self, request: Request) -> Answer:
        form = client_requests.form_of(request)
        credentials = _credentials(request, form)
        description = operations.introspection(credentials, form.get("token"), request.now)
        request_log.about(user_id=description.get("sub", ""))
        client_requests.required(form, "token")
        return endpoints.answer(request, endpoints.compact(description))


class Revoke(Endpoint):
    """200 with an empty body, also for an unknown token (RFC 7009 §2.2)."""

    endpoint = "revoke"
    kind = RequestKind.REVOKE
    http_method_names = ["post"]

    def post(self, request: Request) -> Answer:
        form = client_requests.form_of(request)
        application_id = client_requests.authenticated_id(_credentials(request, form))
        client_requests.required(form, "token")
        revocation.revoke(form.get("token"), application_id)
        return endpoints.answer(request, b"")


class UserInfo(Endpoint):
    """1 query: the token with app and user."""

    endpoint = "userinfo"
    kind = RequestKind.USERINFO
    http_method_names = ["get", "head", "post"]

    def get(self, request: Request) -> Answer:
        return _claims(request, _header_token(request))

    def post(self, request: Request) -> Answer:
        in_header = _header_token(request)
        in_body = client_requests.form_of(request).get("access_token") if client_requests.is_form(request) else ""
        if in_header and in_body:
            raise InvalidRequest("Send the access token once.")
        return _claims(request, in_header or in_body)


def _claims(request: Request, access_token: str) -> Answer:
    found = operations.bearer(access_token, request.now)
    request_log.about(client_id=found.client_id, user_id=found.subject.id)
    return endpoints.answer(request, endpoints.compact(operations.userinfo(found)))


def _header_token(request: Request) -> str:
    scheme, _, token = client_requests.authorization(request).partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _credentials(request: Request, form: Parameters) -> Credentials:
    """Return the credentials, and log the claimed app."""
    credentials = client_requests.credentials_of(client_requests.authorization(request), form)
    request_log.about(client_id=client_requests.lookup_id(credentials.client_id))
    return credentials
