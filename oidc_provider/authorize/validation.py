"""The toolkit's authorization endpoint with the rules of docs/spec/sign-in.md.

docs/decisions/0002-what-the-toolkit-does.md says what is ours.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from oauth2_provider.oauth2_backends import OAuthLibCore
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.settings import oauth2_settings
from oauthlib.oauth2 import AuthorizationCodeGrant, AuthorizationEndpoint, FatalClientError, OAuth2Error
from oauthlib.oauth2.rfc6749 import errors
from oauthlib.openid.connect.core.exceptions import RequestNotSupported, RequestURINotSupported

from oidc_provider import client_requests
from oidc_provider.applications.scopes import parse
from oidc_provider.client_requests import Parameters
from oidc_provider.errors import APP_DISABLED, ErrorPage, ErrorRedirect
from oidc_provider.models import Application

if TYPE_CHECKING:
    from oauthlib.common import Request


# The parameters that the endpoint reads; it ignores all others, also repeated ones.
READ = frozenset(
    "client_id redirect_uri response_type scope state code_challenge code_challenge_method nonce prompt max_age "
    "login_hint id_token_hint request request_uri".split()
)
# In bytes of UTF-8. Waiting requests are stored without a login; `request` has an error of its own.
MAX_LENGTH = 2_048
MAX_LENGTHS = {"nonce": 512, "login_hint": 254, "id_token_hint": 4_096}
_MEASURED = READ - {"request"}
PROMPTS = frozenset({"none", "login", "consent", "select_account"})
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}\Z")
_MAX_AGE = re.compile(r"[0-9]{1,9}\Z")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class S256CodeGrant(AuthorizationCodeGrant):
    """Authorization code with S256, and with every parameter that docs/spec/sign-in.md requires."""

    def __init__(self, validator: Validator) -> None:
        super().__init__(validator)
        self._validator = validator
        self.custom_validators.pre_auth.append(self._check)  # type: ignore[attr-defined]  # missing in the stubs

    def _handle_redirects(self, request: Request) -> None:
        """Compare the redirect URL with the registered ones. Its grammar was checked when it was registered; oauthlib's
        pattern refuses some of what RFC 3986 allows."""
        if request.redirect_uri is None:
            raise errors.MissingRedirectURIError(request=request)
        if not self._validator.validate_redirect_uri(request.client_id, request.redirect_uri, request):
            raise errors.MismatchingRedirectURIError(request=request)

    def _check(self, request: Request) -> dict[str, str]:
        """Runs after client id and redirect URL are validated: its errors go to the app."""
        query = dict(request.decoded_body or [])
        if "request" in query:
            raise RequestNotSupported(request=request)
        if "request_uri" in query:
            raise RequestURINotSupported(request=request)
        if "state" not in query:
            raise errors.InvalidRequestError("Missing state parameter.", request=request)
        if query.get("response_type", "code") != "code":
            raise errors.UnsupportedResponseTypeError("The only response_type is code.", request=request)
        if "scope" not in query:
            raise errors.InvalidScopeError("Missing scope parameter.", request=request)
        if not parse(query["scope"]):
            raise errors.InvalidScopeError("scope must be names with spaces between them.", request=request)
        uses_pkce = "code_challenge" in query or self._validator.is_pkce_required(query["client_id"], request)
        if uses_pkce and (
            query.get("code_challenge_method") != "S256" or not _CHALLENGE.match(query.get("code_challenge", ""))
        ):
            raise errors.InvalidRequestError(
                "PKCE is required: a code_challenge of 43 characters with code_challenge_method=S256.", request=request
            )
        prompt = query.get("prompt", "").split()
        if not PROMPTS.issuperset(prompt) or ("none" in prompt and len(set(prompt)) > 1):
            raise errors.InvalidRequestError(
                "prompt must be none, or of login, consent, select_account.", request=request
            )
        if not _MAX_AGE.match(query.get("max_age", "0")):
            raise errors.InvalidRequestError("max_age must be a number of seconds.", request=request)
        return {}


class Server(AuthorizationEndpoint):
    """OAUTH2_SERVER_CLASS. It has only this endpoint, so the authorization code is the only grant."""

    def __init__(self, validator: Validator, **options: Any) -> None:
        """`options`: lifetimes and generators that the toolkit passes to servers that issue tokens."""
        super().__init__("code", "", {"code": S256CodeGrant(validator)})


class Backend(OAuthLibCore):
    """OAUTH2_BACKEND_CLASS. Oauthlib parses nothing: it gets the parameters in READ as `client_requests` parsed them.
    It would take others for values of its own, such as a parameter `client` for the app."""

    def validated(self, query: Parameters) -> Application:
        """Return the app of a valid query or body. ErrorPage, or ErrorRedirect if the redirect URL is valid."""
        if "client_id" in query.repeated:
            raise _page(errors.InvalidClientIdError())
        if "redirect_uri" in query.repeated:
            raise _page(errors.InvalidRedirectURIError())
        query = _with_single_spaces(query)
        problem, state = _problem_of(query), "" if _is_too_long(query, "state") else query.get("state")
        try:
            _, credentials = self.server.validate_authorization_request("", body=query.only(READ))
        except FatalClientError as error:
            raise _page(error) from None
        except OAuth2Error as error:
            code = "invalid_request" if problem else str(error.error)
            description = problem or error.description or "The app has not registered one of these scopes."
            raise ErrorRedirect(query.get("redirect_uri"), code, description, state) from None
        if problem:
            raise ErrorRedirect(query.get("redirect_uri"), "invalid_request", problem, state)
        application: Application = credentials["request"].client
        return application


@functools.cache
def backend() -> Backend:
    """Return the backend of this process; it holds no state of a request."""
    made: Backend = oauth2_settings.OAUTH2_BACKEND_CLASS()
    return made


def _problem_of(query: Parameters) -> str:
    """Return the error in the encoding, repetition or length of parameters, or the empty string."""
    if query.is_malformed:
        return "The parameters cannot be decoded."
    if query.repeated & READ:
        return f"The request repeats {query.repeated_names(READ)}."
    for name in sorted(_MEASURED):
        if _is_too_long(query, name):
            return f"{name} is too long."
        if _CONTROL.search(query.get(name)):
            return f"{name} contains a control character."
    return ""


def _with_single_spaces(query: Parameters) -> Parameters:
    """Return the query with a single space between two scopes. A scope that is too long or malformed stays as it is."""
    names = [] if _is_too_long(query, "scope") else parse(query.get("scope"))
    return query._replace(values={**query.values, "scope": " ".join(names)}) if names else query


def _is_too_long(query: Parameters, name: str) -> bool:
    return len(query.get(name).encode()) > MAX_LENGTHS.get(name, MAX_LENGTH)


def _page(error: FatalClientError) -> ErrorPage:
    if isinstance(error, (errors.MissingClientIdError, errors.InvalidClientIdError)):
        return ErrorPage("invalid_client", 400, "The app that sent you here is unknown to us.")
    if isinstance(error, errors.InvalidRequestFatalError):
        return ErrorPage("invalid_redirect", 400, "The app named a return address that it has not registered.")
    return ErrorPage(str(error.error), error.status_code, error.description)


class ClientDisabled(FatalClientError):
    """The app is suspended: the answer is an error page."""

    error, status_code, description = APP_DISABLED


class Validator(OAuth2Validator):
    """OAUTH2_VALIDATOR_CLASS. Apps are found by their id and refused while suspended."""

    def _load_application(self, client_id: str, request: Request) -> Application | None:
        """1 query. The toolkit's own can also fetch metadata documents over HTTP."""
        if request.client is None:
            request.client = Application.objects.filter(client_id=client_requests.lookup_id(client_id)).first()
        return request.client

    def validate_client_id(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> bool:
        application = self._load_application(client_id, request)
        if application is not None and not application.is_usable(request):
            raise ClientDisabled(request=request)
        return application is not None

    def get_default_redirect_uri(self, client_id: str, request: Request, *args: Any, **kwargs: Any) -> None:
        """Return None: a request names its redirect_uri even if the app has only one."""
