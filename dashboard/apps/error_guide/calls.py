"""Errors that apps meet when they call the endpoints themselves."""

from __future__ import annotations

from dashboard.apps.error_guide.rows import CLIENT, EVERY, USERINFO, ErrorGuide

FOR_CLIENTS = (
    ErrorGuide(
        "invalid_client",
        CLIENT,
        401,
        "The app is suspended.",
        "The app's page shows the reason. Mend it, then write to support.",
        said="This app is suspended",
    ),
    ErrorGuide(
        "invalid_client",
        CLIENT,
        401,
        "The Authorization header is no readable HTTP Basic header.",
        "Send Basic base64(client_id:client_secret), or both values in the body and no such header.",
        said="The Authorization header",
    ),
    ErrorGuide(
        "invalid_client",
        CLIENT,
        401,
        "The Authorization header has another scheme than Basic.",
        "Authenticate the app with HTTP Basic, or with client_id and client_secret in the body. Bearer tokens are for "
        "user info alone.",
        said="Authenticate the app",
    ),
    ErrorGuide(
        "invalid_client",
        CLIENT,
        401,
        "The secret is wrong, missing, or was reset since; or the client_id is that of another app. The code or the "
        "token is not used up.",
        "Look at the environment of the running process, not at the file: a secret that was reset counts from that "
        "moment, on every server. Check for a line break or quotation marks at its end.",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "The body has another type than application/x-www-form-urlencoded; JSON is the usual one.",
        "Send a form: in curl with --data, in JavaScript as URLSearchParams, in Python as data=, not json=.",
        said="Send the parameters as",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "Parameters stand in the query string, where logs would keep them.",
        "Send all of them in the body.",
        said="Send the parameters in the body",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "A parameter that the request needs is missing or empty.",
        "Send it; the description names it. For a code these are code, redirect_uri and code_verifier.",
        said="Missing parameter",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "The secret stands in the Authorization header and in the body.",
        "Choose one: client_secret_basic or client_secret_post.",
        said="Send the client secret",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "The header and the body name different apps.",
        "Leave client_id out of the body, or send the same one.",
        said="The body names another",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "A parameter stands in the body twice.",
        "Send each parameter once.",
        said="The body repeats",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "The body cannot be decoded: broken percent-encoding, other bytes than UTF-8, or far too many fields.",
        "Let your library encode the form; do not join strings by hand.",
        said="The body cannot",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "The body is far longer than any request of the provider.",
        "Send only the parameters of the endpoint.",
        said="The body is longer",
    ),
    ErrorGuide(
        "invalid_request",
        CLIENT,
        400,
        "The connection ended before the whole body had come.",
        "Send the request again; where it repeats, compare Content-Length with the body.",
        said="The body ends before",
    ),
)
AT_USERINFO = (
    ErrorGuide(
        "invalid_token",
        USERINFO,
        401,
        "The request carries no access token.",
        "Send Authorization: Bearer and the access token. The query string is not read.",
        said="Send the access token as",
    ),
    ErrorGuide(
        "invalid_token",
        USERINFO,
        401,
        "The access token is older than an hour, revoked, unknown, or its person is gone. An id_token or a refresh "
        "token in its place looks the same.",
        "Refresh, or let the person sign in again. Such a request is in no app's log: the token no longer tells whose "
        "it was.",
    ),
    ErrorGuide(
        "insufficient_scope",
        USERINFO,
        403,
        "The access token was granted without openid.",
        "Ask for openid in the authorization request, and leave it in when a refresh narrows the scope.",
    ),
    ErrorGuide(
        "invalid_request",
        USERINFO,
        400,
        "The access token stands in the header and in the body.",
        "Send it once, best in the header.",
    ),
)
EVERYWHERE = (
    ErrorGuide(
        "429",
        EVERY,
        429,
        "More than 100 requests within a minute came to this endpoint from one address.",
        "Wait for the seconds in X-Retry-After. Refresh tokens when they are due, not on every page; read discovery "
        "and the key set once and keep them.",
    ),
    ErrorGuide(
        "invalid_request",
        EVERY,
        405,
        "The request has another method than the endpoint takes.",
        "The header Allow names the methods: GET for authorize, POST for token, revoke and introspect, both for user "
        "info.",
        said="Use ",
    ),
    ErrorGuide(
        "temporarily_unavailable",
        EVERY,
        503,
        "The service cannot count requests at the moment. Nothing was done.",
        "Send the same request again after the seconds in Retry-After.",
    ),
)
