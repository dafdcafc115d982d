"""Errors of the authorization request."""

from __future__ import annotations

from dashboard.apps.error_guide.rows import PAGE, REDIRECT, ErrorGuide

ON_PAGES = (
    ErrorGuide(
        "invalid_client",
        PAGE,
        400,
        "The request has no client_id, has it twice, or names an app that does not exist.",
        "Copy the client_id from the app's page. It has 32 characters, digits and the letters a to f.",
    ),
    ErrorGuide(
        "invalid_redirect",
        PAGE,
        400,
        "redirect_uri is missing or repeated, or differs from every redirect URL of the app. URLs compare letter by "
        "letter: http and https, localhost and 127.0.0.1, another port or a trailing slash make a different URL.",
        "Register exactly the URL that your app sends, or send one that is registered. Only for http://127.0.0.1 may "
        "the port differ.",
        said="The app named",
    ),
    ErrorGuide(
        "invalid_redirect",
        PAGE,
        400,
        "The redirect URL was taken off the app's list while somebody was signing in.",
        "Keep a redirect URL registered until ten minutes after the last sign-in that used it has begun.",
        said="The app no longer uses",
    ),
    ErrorGuide(
        "client_disabled",
        PAGE,
        403,
        "Staff suspended the app. Nobody can sign in to it, and all of its tokens are deleted.",
        "The app's page shows the reason. Mend it, then write to support; people who approved the app are not asked "
        "again once it is restored.",
    ),
    ErrorGuide(
        "expired",
        PAGE,
        400,
        "Login and consent did not end within ten minutes of the authorization request.",
        "Start again from the app. Make the authorization URL at the moment at which somebody presses the button, "
        "never ahead of time.",
    ),
    ErrorGuide(
        "answered",
        PAGE,
        400,
        "The person answered the same authorization request twice: Allow or Cancel was pressed again, or the page was "
        "opened again after it had led back to the app.",
        "Nothing is broken. Make a new authorization URL, with a new state, for each sign-in.",
    ),
)
BY_REDIRECT = (
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "PKCE is off, uses the method plain, or the code_challenge is not 43 characters of base64url.",
        "Turn PKCE on in your library: code_challenge_method=S256, and code_challenge = base64url(SHA-256(verifier)) "
        "without padding.",
        said="PKCE is required",
    ),
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "The request has no state.",
        "Send a random state, keep it with the browser's session, and compare it in the callback.",
        said="Missing state",
    ),
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "A parameter that we read comes twice in the request.",
        "Send each parameter once. Look for a URL that holds it already and a library that adds it.",
        said="The request repeats",
    ),
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "prompt holds another word than none, login, consent or select_account, or none together with another one.",
        "Leave prompt out, or send none alone, or any of the other three with spaces between.",
        said="prompt must be",
    ),
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "max_age is no whole number of seconds.",
        "Send digits alone, such as 3600, or leave it out.",
        said="max_age must be",
    ),
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "The id_token_hint was not signed by this service.",
        "Send an id_token that this service issued to your app, whole and unchanged, or leave the hint out.",
        said="The id_token_hint",
    ),
    ErrorGuide(
        "invalid_request",
        REDIRECT,
        302,
        "The query cannot be decoded, or a value is too long or holds a control character.",
        "Build the URL with your library or with a function that percent-encodes UTF-8. Use at most 2,048 bytes "
        "of state and 512 of nonce; a state that is too long does not come back.",
    ),
    ErrorGuide(
        "invalid_scope",
        REDIRECT,
        302,
        "The request has no scope.",
        "Send scope=openid and what else you need, with spaces between.",
        said="Missing scope",
    ),
    ErrorGuide(
        "invalid_scope",
        REDIRECT,
        302,
        "The request names a scope that the app has not registered. The whole request fails. Many libraries ask for "
        "profile, which does not exist here.",
        "Set your library's scopes by hand: identify takes the place of profile. Register the others on the app's "
        "page; email and connections must be unlocked by staff first.",
    ),
    ErrorGuide(
        "unsupported_response_type",
        REDIRECT,
        302,
        "response_type is another one than code.",
        "Use the authorization code flow: response_type=code. Implicit and hybrid flows do not exist here.",
    ),
    ErrorGuide(
        "request_not_supported",
        REDIRECT,
        302,
        "The request carries a request object.",
        "Send the parameters in the query; turn signed request objects off in your library.",
    ),
    ErrorGuide(
        "request_uri_not_supported",
        REDIRECT,
        302,
        "The request carries a request_uri.",
        "Send the parameters in the query; turn pushed authorization requests off in your library.",
    ),
    ErrorGuide(
        "access_denied",
        REDIRECT,
        302,
        "The person pressed Cancel, or came back too late and returned to the app.",
        "Nothing is broken. Show how to go on without signing in, and let them try again.",
    ),
    ErrorGuide(
        "login_required",
        REDIRECT,
        302,
        "prompt=none, and nobody is signed in at this browser, or not recently enough for max_age.",
        "Send the same request again without prompt=none, so that the person can sign in.",
        said="The user has to sign in",
    ),
    ErrorGuide(
        "login_required",
        REDIRECT,
        302,
        "The id_token_hint names another person than the one who is signed in.",
        "Leave the hint out, or ask the person to switch the account.",
        said="Another person",
    ),
    ErrorGuide(
        "consent_required",
        REDIRECT,
        302,
        "prompt=none, and the person has not approved all of these scopes yet.",
        "Send the same request again without prompt=none, so that the person can decide.",
    ),
)
