"""Errors of the two grants."""

from __future__ import annotations

from dashboard.apps.error_guide.rows import TOKEN, ErrorGuide

AT_TOKEN = (
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "The code is unknown, older than ten minutes, or was made for another app; or the person disconnected the app "
        "in the meantime.",
        "Exchange the code at once in the callback, with the credentials of the app that began the sign-in. If it "
        "happens now and then, start the sign-in again.",
        said="The code is unknown",
    ),
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "Somebody else signed in with the address of a try; only the owner's own sign-in is exchanged there.",
        "Start the try anew and sign in yourself, with the account that owns the app.",
        said="The code was made for another person",
    ),
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "The code was exchanged before. A code is good once; its second use revokes every token that came from it.",
        "Exchange it once: look for a callback page that is loaded twice, a retry, or two libraries that both handle "
        "the callback. Redirect away from the callback as soon as the tokens are there.",
        said="The code was used before",
    ),
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "redirect_uri differs from the one of the authorization request.",
        "Send the same string in both places, from one setting; behind a proxy, libraries tend to guess http.",
        said="The redirect_uri is not",
    ),
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "The code_verifier does not belong to the code_challenge of the authorization request.",
        "Keep the verifier in the browser's session between the two requests. Two tabs that overwrite one another's "
        "verifier, or a session cookie that gets lost, look like this.",
        said="The code_verifier",
    ),
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "The refresh token was used before. Each refresh brings a new one and ends the old one; a use later than ten "
        "seconds after that revokes the whole sign-in.",
        "Store the new refresh token of every answer before anything else, and let one worker at a time refresh.",
        said="The refresh token was used",
    ),
    ErrorGuide(
        "invalid_grant",
        TOKEN,
        400,
        "The refresh token is unknown, older than 30 days, revoked, or belongs to another app. Most often the person "
        "disconnected the app.",
        "Forget the tokens and let the person sign in again. Do not try again with the same token.",
        said="The refresh token is unknown",
    ),
    ErrorGuide(
        "invalid_scope",
        TOKEN,
        400,
        "A refresh asked for a scope that the person had not granted.",
        "Leave scope out of refreshes. For more scopes, start a new sign-in.",
    ),
    ErrorGuide(
        "unauthorized_client",
        TOKEN,
        400,
        "The app used the grant client_credentials, which no app may use here, although discovery lists it.",
        "Use authorization_code and refresh_token. For lookups on the app's own behalf, use an API key.",
    ),
    ErrorGuide(
        "unsupported_grant_type",
        TOKEN,
        400,
        "grant_type is another one than authorization_code or refresh_token.",
        "Use one of the two; passwords and device codes are not taken here.",
    ),
    ErrorGuide(
        "server_error",
        TOKEN,
        500,
        "The service cannot sign id_tokens at the moment. The code or the refresh token is not used up.",
        "Send the same request again a little later. If it lasts, write to support with the request id.",
    ),
)
