"""The errors of the protocol endpoints, with the words of RFC 6749, RFC 6750 and docs/spec/sign-in.md."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from oidc_provider import lifetimes

TOKEN = "Token"  # noqa: S105 - an endpoint's name
CLIENT = "Token, introspect, revoke"
USERINFO = "User info"
EVERY = "Every endpoint"


@dataclass(frozen=True)
class Cause:
    """One cause of an error, and its fix, for the developer of an app.

    `said`: how the description of this cause begins; empty for the only cause, or for all that remain. `where`: the
    endpoints of this cause, where they are others than the error's.
    """

    cause: str
    fix: str
    said: str = ""
    where: str = ""


class ProtocolError(Exception):
    """Answered as `{"error", "error_description"}` with `status`. `description` is for the app's developer."""

    error = "server_error"
    status = 400
    where = EVERY
    causes: tuple[Cause, ...] = ()

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description

    def headers(self) -> dict[str, str]:
        """Return the headers that belong to the error."""
        return {}


class InvalidRequest(ProtocolError):
    error = "invalid_request"
    where = CLIENT
    causes: tuple[Cause, ...] = (
        Cause(
            "The body has another type than application/x-www-form-urlencoded; JSON is the usual one.",
            "Send a form: in curl with --data, in JavaScript as URLSearchParams, in Python as data=, not json=.",
            said="Send the parameters as",
        ),
        Cause(
            "Parameters are in the query string, where logs would keep them.",
            "Send all of them in the body.",
            said="Send the parameters in the body",
        ),
        Cause(
            "A parameter that the request needs is missing or empty.",
            "Send it; the description names it. For a code these are code, redirect_uri and code_verifier.",
            said="Missing parameter",
        ),
        Cause(
            "The secret is in the Authorization header and in the body.",
            "Choose one: client_secret_basic or client_secret_post.",
            said="Send the client secret",
        ),
        Cause(
            "The header and the body name different apps.",
            "Leave client_id out of the body, or send the same one.",
            said="The body names another",
        ),
        Cause(
            "A parameter is in the body twice.",
            "Send each parameter once.",
            said="The body repeats",
        ),
        Cause(
            "The body cannot be decoded: broken percent-encoding, other bytes than UTF-8, or far too many fields.",
            "Let your library encode the form; do not join strings by hand.",
            said="The body cannot",
        ),
        Cause(
            "The body is far longer than any request of the provider.",
            "Send only the parameters of the endpoint.",
            said="The body is longer",
        ),
        Cause(
            "The connection ended before the whole body had come.",
            "Send the request again; where it repeats, compare Content-Length with the body.",
            said="The body ends before",
        ),
        Cause(
            "The access token is in the header and in the body.",
            "Send it once, best in the header.",
            where=USERINFO,
        ),
    )


class MethodNotAllowed(InvalidRequest):
    status = 405
    where = EVERY
    causes: tuple[Cause, ...] = (
        Cause(
            "The request has another method than the endpoint takes.",
            "The header Allow names the methods: GET for authorize, POST for token, revoke and introspect, both "
            "for user info.",
            said="Use ",
        ),
    )

    def __init__(self, methods: Iterable[str]) -> None:
        self.allowed = ", ".join(methods).upper()
        super().__init__(f"Use {self.allowed}.")

    def headers(self) -> dict[str, str]:
        return {"Allow": self.allowed}


class InvalidClient(ProtocolError):
    error = "invalid_client"
    status = 401
    where = CLIENT
    causes: tuple[Cause, ...] = (
        Cause(
            "The app is suspended.",
            "The app's page shows the reason. Correct it, then write to support.",
            said="This app is suspended",
        ),
        Cause(
            "The Authorization header is not a readable HTTP Basic header.",
            "Send Basic base64(client_id:client_secret), or both values in the body and no such header.",
            said="The Authorization header",
        ),
        Cause(
            "The Authorization header has another scheme than Basic.",
            "Authenticate the app with HTTP Basic, or with client_id and client_secret in the body. Bearer tokens"
            " are for user info alone.",
            said="Authenticate the app",
        ),
        Cause(
            "The secret is wrong, missing, or was reset since; or the client_id is that of another app. The code "
            "or the token is not used up.",
            "Look at the environment of the running process, not at the file: a new secret replaces the old one "
            "at once, on every server. Check for a line break or quotation marks at its end.",
        ),
    )

    def headers(self) -> dict[str, str]:
        """The challenge of RFC 7617."""
        return {"WWW-Authenticate": 'Basic realm="apps", charset="UTF-8"'}


class EndSessionRefused(ProtocolError):
    """The refusal at end-session, which takes no credentials, so the answer has no challenge."""

    error = "invalid_client"


class InvalidGrant(ProtocolError):
    error = "invalid_grant"
    where = TOKEN
    causes: tuple[Cause, ...] = (
        Cause(
            f"The code is unknown, older than {lifetimes.CODE}, or was made for another app; or the user disconnected"
            " the app in the meantime.",
            "Exchange the code at once in the callback, with the credentials of the app that began the sign-in. "
            "If it happens now and then, start the sign-in again.",
            said="The code is unknown",
        ),
        Cause(
            "Another user signed in with the URL of a login test; only the owner's own sign-in is exchanged there.",
            "Start the test again and sign in yourself, with the account that owns the app.",
            said="The code was made for another person",
        ),
        Cause(
            "The code was exchanged before. A code is good once; its second use revokes every token that came from it.",
            "Exchange it once: look for a callback page that is loaded twice, a retry, or two libraries that both"
            " handle the callback. Redirect away from the callback as soon as the tokens are there.",
            said="The code was used before",
        ),
        Cause(
            "redirect_uri differs from the one of the authorization request.",
            "Send the same string in both places, from one setting; behind a proxy, libraries tend to guess http.",
            said="The redirect_uri is not",
        ),
        Cause(
            "The code_verifier does not belong to the code_challenge of the authorization request.",
            "Keep the verifier in the browser's session between the two requests. Two tabs that overwrite one "
            "another's verifier, or a session cookie that gets lost, look like this.",
            said="The code_verifier",
        ),
        Cause(
            "The refresh token was used before. Each refresh brings a new one and ends the old one; a use later "
            f"than {lifetimes.GRACE_PERIOD} after that revokes the whole sign-in.",
            "Store the new refresh token of every answer before anything else, and let one worker at a time refresh. "
            "Where an answer got lost, do not try again: use the access token to its end, then let the user sign in.",
            said="The refresh token was used",
        ),
        Cause(
            f"The refresh token is unknown, older than {lifetimes.REFRESH_TOKEN}, revoked, or belongs to another app. "
            "Most often the user disconnected the app.",
            "Forget the tokens and let the user sign in again. Do not try again with the same token.",
            said="The refresh token is unknown",
        ),
    )


class InvalidScope(ProtocolError):
    error = "invalid_scope"
    where = TOKEN
    causes: tuple[Cause, ...] = (
        Cause(
            "A refresh asked for a scope that the user had not granted.",
            "Leave scope out of refreshes. For more scopes, start a new sign-in.",
        ),
    )


class UnauthorizedClient(ProtocolError):
    error = "unauthorized_client"
    where = TOKEN
    causes: tuple[Cause, ...] = (
        Cause(
            "The app used the grant client_credentials, which no app may use here, although discovery lists it.",
            "Use authorization_code and refresh_token. For lookups on the app's own behalf, use an API key.",
        ),
    )


class UnsupportedGrantType(ProtocolError):
    error = "unsupported_grant_type"
    where = TOKEN
    causes: tuple[Cause, ...] = (
        Cause(
            "grant_type is another one than authorization_code or refresh_token.",
            "Use one of the two; passwords and device codes are not taken here.",
        ),
    )


class MissingToken(ProtocolError):
    """The request carries no credentials. The challenge has no error code (RFC 6750 §3.1); the body has one."""

    error = "invalid_token"
    status = 401
    where = USERINFO
    causes: tuple[Cause, ...] = (
        Cause(
            "The request carries no access token.",
            "Send Authorization: Bearer and the access token. The query string is not read.",
            said="Send the access token as",
        ),
    )

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class InvalidToken(ProtocolError):
    error = "invalid_token"
    status = 401
    where = USERINFO
    causes: tuple[Cause, ...] = (
        Cause(
            f"The access token is older than {lifetimes.ACCESS_TOKEN}, revoked, unknown, or its user is gone. An "
            "id_token or a refresh token in its place looks the same.",
            "Refresh, or let the user sign in again. Such a request is in no app's log, because an unknown "
            "token names no app.",
        ),
    )

    def headers(self) -> dict[str, str]:
        """The challenge of RFC 6750 §3."""
        return {"WWW-Authenticate": f'Bearer error="{self.error}", error_description="{self.description}"'}


class InsufficientScope(InvalidToken):
    """The token lacks the scope `openid`."""

    error = "insufficient_scope"
    status = 403
    where = USERINFO
    causes: tuple[Cause, ...] = (
        Cause(
            "The access token was granted without openid.",
            "Ask for openid in the authorization request, and leave it in when a refresh narrows the scope.",
        ),
    )

    def headers(self) -> dict[str, str]:
        challenge = super().headers()["WWW-Authenticate"]
        return {"WWW-Authenticate": f'{challenge}, scope="openid"'}


class ServerError(ProtocolError):
    status = 500
    where = TOKEN
    causes: tuple[Cause, ...] = (
        Cause(
            "The service cannot sign id_tokens now. The code or the refresh token is not used up.",
            "Send the same request again a little later. If it lasts, write to support with the request id.",
        ),
    )


class TemporarilyUnavailable(ProtocolError):
    """Nothing was done; the request can be sent again."""

    error = "temporarily_unavailable"
    status = 503
    where = EVERY
    causes: tuple[Cause, ...] = (
        Cause(
            "The service cannot count requests now. Nothing was done.",
            "Send the same request again after the seconds in Retry-After.",
        ),
    )

    def headers(self) -> dict[str, str]:
        return {"Retry-After": "1"}


class SigningUnavailable(Exception):
    """No key signs, or the key that signs cannot be decrypted. The message is for the operator."""


APP_DISABLED = ("client_disabled", 403, "This app has been disabled.")  # an error page: its code, status and message


@dataclass(eq=False)
class ErrorPage(Exception):
    """An authorization request that is not answered at its redirect URL: a page for the user, JSON for a program."""

    error: str
    status: int
    message: str
    causes: ClassVar[Mapping[str, tuple[Cause, ...]]] = MappingProxyType(
        {
            "invalid_client": (
                Cause(
                    "The request has no client_id, has it twice, or names an app that does not exist.",
                    "Copy the client_id from the app's page. It has 32 characters, digits and the letters a to f.",
                ),
            ),
            "invalid_redirect": (
                Cause(
                    "redirect_uri is missing or repeated, or differs from every redirect URL of the app. URLs "
                    "compare letter by letter: http and https, localhost and 127.0.0.1, another port or a "
                    "trailing slash make a different URL.",
                    "Register exactly the URL that your app sends, or send one that is registered. Only for "
                    "http://127.0.0.1 may the port differ.",
                    said="The app named",
                ),
                Cause(
                    "The redirect URL was removed from the app during the sign-in.",
                    f"Keep a redirect URL registered for {lifetimes.REQUEST} after the last sign-in with it begins.",
                    said="The app no longer uses",
                ),
            ),
            "client_disabled": (
                Cause(
                    "Staff suspended the app. Users cannot sign in to it, and all of its tokens are deleted.",
                    "The app's page shows the reason. Correct it, then write to support; people who approved the "
                    "app are not asked again once it is restored.",
                ),
            ),
            "expired": (
                Cause(
                    f"Sign-in and consent did not end within {lifetimes.REQUEST} of the authorization request.",
                    "Start again from the app. Make the authorization URL when the user presses the button, never"
                    " ahead of time.",
                ),
            ),
            "answered": (
                Cause(
                    "The user answered the same authorization request twice: Allow or Cancel was pressed again,"
                    " or the page was opened again after it had led back to the app.",
                    "Nothing is broken. Make a new authorization URL, with a new state, for each sign-in.",
                ),
            ),
        }
    )


@dataclass(eq=False, repr=False)
class ErrorRedirect(Exception):
    """An error of an authorization request that the app receives at its redirect URL (RFC 6749 §4.1.2.1)."""

    redirect_uri: str
    error: str
    description: str
    state: str
    causes: ClassVar[Mapping[str, tuple[Cause, ...]]] = MappingProxyType(
        {
            "invalid_request": (
                Cause(
                    "PKCE is off, uses the method plain, or the code_challenge is not 43 characters of base64url.",
                    "Turn PKCE on in your library: code_challenge_method=S256, and code_challenge = "
                    "base64url(SHA-256(verifier)) without padding.",
                    said="PKCE is required",
                ),
                Cause(
                    "The request has no state.",
                    "Send a random state, keep it with the browser's session, and compare it in the callback.",
                    said="Missing state",
                ),
                Cause(
                    "A parameter that we read comes twice in the request.",
                    "Send each parameter once. Look for a URL that holds it already and a library that adds it.",
                    said="The request repeats",
                ),
                Cause(
                    "prompt holds another word than none, login, consent or select_account, or none together with"
                    " another one.",
                    "Leave prompt out, or send none alone, or any of the other three with spaces between.",
                    said="prompt must be",
                ),
                Cause(
                    "max_age is not a whole number of seconds.",
                    "Send digits alone, such as 3600, or leave it out.",
                    said="max_age must be",
                ),
                Cause(
                    "The id_token_hint was not signed by this service.",
                    "Send an id_token that this service issued to your app, whole and unchanged, or leave the "
                    "hint out.",
                    said="The id_token_hint",
                ),
                Cause(
                    "The query cannot be decoded, or a value is too long or holds a control character.",
                    "Build the URL with your library or with a function that percent-encodes UTF-8. Use at most "
                    "2,048 bytes of state and 512 of nonce; a state that is too long does not come back.",
                ),
            ),
            "invalid_scope": (
                Cause(
                    "The request has no scope.",
                    "Send scope=openid and what else you need, with spaces between.",
                    said="Missing scope",
                ),
                Cause(
                    "The request names a scope that the app has not registered. The whole request fails. Many "
                    "libraries ask for profile, which does not exist here.",
                    "Set your library's scopes by hand: identify takes the place of profile. Register the others "
                    "on the app's page; email and connections must be unlocked by staff first.",
                ),
            ),
            "unsupported_response_type": (
                Cause(
                    "response_type is another one than code.",
                    "Use the authorization code flow: response_type=code. Implicit and hybrid flows do not exist here.",
                ),
            ),
            "request_not_supported": (
                Cause(
                    "The request carries a request object.",
                    "Send the parameters in the query; turn signed request objects off in your library.",
                ),
            ),
            "request_uri_not_supported": (
                Cause(
                    "The request carries a request_uri.",
                    "Send the parameters in the query; turn pushed authorization requests off in your library.",
                ),
            ),
            "access_denied": (
                Cause(
                    "The user pressed Cancel, or came back too late and returned to the app.",
                    "Nothing is broken. Show how to go on without signing in, and let them try again.",
                ),
            ),
            "login_required": (
                Cause(
                    "prompt=none, and no user is signed in at this browser, or not recently enough for max_age.",
                    "Send the same request again without prompt=none, so that the user can sign in.",
                    said="The user has to sign in",
                ),
                Cause(
                    "The id_token_hint names another user than the one who is signed in.",
                    "Leave the hint out, or ask the user to switch the account.",
                    said="Another person",
                ),
            ),
            "consent_required": (
                Cause(
                    "prompt=none, and the user has not approved all of these scopes yet.",
                    "Send the same request again without prompt=none, so that the user can decide.",
                ),
            ),
        }
    )

    def __post_init__(self) -> None:
        super().__init__(self.error)  # of the fields, tracebacks show only this one: `state` is a secret
