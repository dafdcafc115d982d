"""The errors of the protocol endpoints, with the words of RFC 6749, RFC 6750 and document 1."""


class ProtocolError(Exception):
    """Answered as `{"error", "error_description"}` with `status`. `description` is for the app's developer."""

    error = "server_error"
    status = 400

    def __init__(self, description: str) -> None:
        super().__init__(description)
        self.description = description

    def headers(self) -> dict[str, str]:
        """Those that belong to the error."""
        return {}


class InvalidRequest(ProtocolError):
    error = "invalid_request"


class MethodNotAllowed(InvalidRequest):
    status = 405

    def __init__(self, allowed: str) -> None:
        """`allowed`: the methods of the endpoint, as the header `Allow` has them."""
        super().__init__(f"Use {allowed}.")
        self.allowed = allowed

    def headers(self) -> dict[str, str]:
        return {"Allow": self.allowed}


class InvalidClient(ProtocolError):
    error = "invalid_client"
    status = 401

    def headers(self) -> dict[str, str]:
        """The challenge of RFC 7617."""
        return {"WWW-Authenticate": 'Basic realm="apps", charset="UTF-8"'}


class EndSessionRefused(ProtocolError):
    """At end-session, which takes no credentials: no challenge asks for them."""

    error = "invalid_client"


class InvalidGrant(ProtocolError):
    error = "invalid_grant"


class InvalidScope(ProtocolError):
    error = "invalid_scope"


class UnauthorizedClient(ProtocolError):
    error = "unauthorized_client"


class UnsupportedGrantType(ProtocolError):
    error = "unsupported_grant_type"


class MissingToken(ProtocolError):
    """No credentials at all: RFC 6750 §3.1 wants no error code in the challenge; the body names one all the same."""

    error = "invalid_token"
    status = 401

    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": "Bearer"}


class InvalidToken(ProtocolError):
    error = "invalid_token"
    status = 401

    def headers(self) -> dict[str, str]:
        """The challenge of RFC 6750 §3."""
        return {"WWW-Authenticate": f'Bearer error="{self.error}", error_description="{self.description}"'}


class InsufficientScope(InvalidToken):
    """The token lacks the scope `openid`."""

    error = "insufficient_scope"
    status = 403

    def headers(self) -> dict[str, str]:
        challenge = super().headers()["WWW-Authenticate"]
        return {"WWW-Authenticate": f'{challenge}, scope="openid"'}


class ServerError(ProtocolError):
    status = 500


class TemporarilyUnavailable(ProtocolError):
    """Nothing was done; the same request may be sent again."""

    error = "temporarily_unavailable"
    status = 503

    def headers(self) -> dict[str, str]:
        return {"Retry-After": "1"}


class ErrorPage(Exception):
    """An authorization request that must not be sent back to anyone: a page for the person, JSON for a program."""

    def __init__(self, error: str, status: int, message: str) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.message = message


class ErrorRedirect(Exception):
    """An authorization request that the app is told about, at its redirect URL (RFC 6749 §4.1.2.1)."""

    def __init__(self, redirect_uri: str, error: str, description: str, state: str) -> None:
        super().__init__(error)
        self.redirect_uri = redirect_uri
        self.error = error
        self.description = description
        self.state = state
