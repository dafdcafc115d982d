"""OAuth 2 as the platform speaks it: the authorization code grant, with PKCE where a client uses it.

On plain pages without authentication you choose your account on the simulated platforms.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit, urlunsplit

from aiohttp import web

from demo.chat_platform import shapes
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import World

CODE_SECONDS = 60
TOKEN_SECONDS = 604_800
_SCOPES = {"identify", "email", "guilds", "connections", "openid"}
_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Code:
    """`challenge`: of PKCE, empty without. `issued_at`: UNIX seconds."""

    chat_id: str
    redirect_uri: str
    scope: str
    challenge: str
    issued_at: float


@dataclass
class Grants:
    """The codes that are not exchanged yet."""

    codes: dict[str, Code] = field(default_factory=dict)

    def issue(self, code: Code) -> str:
        """Return the code's value. Expired codes are dropped."""
        current = {value: old for value, old in self.codes.items() if code.issued_at - old.issued_at < CODE_SECONDS}
        self.codes = {**current, (value := secrets.token_urlsafe(22)): code}
        return value

    def take(self, value: str, now: float) -> Code | None:
        """Use up a code, even if the exchange fails."""
        code = self.codes.pop(value, None)
        return code if code is not None and now - code.issued_at < CODE_SECONDS else None


class Refused(Exception):
    """`error` as RFC 6749 §5.2 names it."""

    def __init__(self, error: str, description: str, status: int = 400) -> None:
        super().__init__(error)
        self.body = {"error": error, "error_description": description}
        self.status = status


def routes(world: World) -> list[web.RouteDef]:
    """`GET /users/@me` is one of the REST routes, which asks `user_of_bearer`."""
    grants = Grants()

    async def show(request: web.Request) -> web.StreamResponse:
        if problem := _problem(world, request.query):
            return refusal(problem)
        question = "An app asks for your account here: your id, name and picture."
        return answer("Simulated chat platform", form(question, choice_of_members(world)))

    async def decide(request: web.Request) -> web.StreamResponse:
        return _decide(world, grants, request.query, await request.post())

    async def token(request: web.Request) -> web.StreamResponse:
        headers = {"Cache-Control": "no-store", "Pragma": "no-cache"}
        try:
            body = _exchange(world, grants, request.headers.get("Authorization", ""), dict(await request.post()))
        except Refused as refusal:
            return _json(refusal.body, refusal.status, headers)
        return _json(body, 200, headers)

    return [
        web.get("/oauth2/authorize", show),
        web.post("/oauth2/authorize", decide),
        web.post("/api/v10/oauth2/token", token),
    ]


def user_of_bearer(world: World, token: str) -> Json | None:
    """Return the user of an access token; None: unknown token, or its account is deleted."""
    chat_id = world.bearers.get(token)
    return world.accounts[chat_id] if chat_id is not None and chat_id in world.accounts else None


# --- The page -------------------------------------------------------------------------------------------------------


def _decide(world: World, grants: Grants, asked: Any, form: Any) -> web.Response:
    """Answer the form. `asked`, `form`: mappings of aiohttp."""
    problem = _problem(world, asked)
    if problem:
        return refusal(problem)
    state = {"state": asked["state"]} if "state" in asked else {}
    if form.get("decision") != "allow":
        description = "The resource owner or authorization server denied the request"
        return back(asked["redirect_uri"], {"error": "access_denied", "error_description": description, **state})
    chat_id = str(form.get("other") or form.get("member") or "")
    if chat_id not in world.accounts:
        return answer("Unknown id", "<p>Go back and choose again.</p>", status=400)
    code = Code(chat_id, asked["redirect_uri"], asked["scope"], asked.get("code_challenge", ""), time.time())
    return back(asked["redirect_uri"], {"code": grants.issue(code), **state})


def _problem(world: World, asked: Any) -> str:
    """Return the problem of an authorization request in words; "" for a valid one."""
    scopes = asked.get("scope", "").split()
    if asked.get("client_id") != world.bot_id:
        return "Unknown client_id."
    if urlsplit(asked.get("redirect_uri", "")).scheme not in {"http", "https"}:
        return "No redirect_uri."
    if asked.get("response_type") != "code":
        return "The response_type must be code."
    if not scopes or not _SCOPES.issuperset(scopes):
        return "Unknown scope."
    if "code_challenge" in asked and (
        asked.get("code_challenge_method") != "S256" or not _CHALLENGE.fullmatch(asked["code_challenge"])
    ):
        return "PKCE is spoken with S256 alone."
    return ""


# --- The exchange ---------------------------------------------------------------------------------------------------


def _exchange(world: World, grants: Grants, authorization: str, form: dict[str, Any]) -> Json:
    """Return the token response. `form`: of strings, or of any value that a client uploads."""
    values = {name: value for name, value in form.items() if isinstance(value, str)}
    _check_client(world, authorization, values)
    if values.get("grant_type") != "authorization_code":
        raise Refused("unsupported_grant_type", "Only codes are exchanged here.")
    code = grants.take(values.get("code", ""), time.time())
    if code is None:
        raise Refused("invalid_grant", 'Invalid "code" in request.')
    if values.get("redirect_uri") != code.redirect_uri:
        raise Refused("invalid_grant", 'Invalid "redirect_uri" in request.')
    if code.challenge and not hmac.compare_digest(_challenge(values.get("code_verifier", "")), code.challenge):
        raise Refused("invalid_grant", 'Invalid "code_verifier" in request.')
    token = secrets.token_urlsafe(22)
    world.bearers[token] = code.chat_id
    return {
        "token_type": "Bearer",
        "access_token": token,
        "expires_in": TOKEN_SECONDS,
        "refresh_token": secrets.token_urlsafe(22),
        "scope": code.scope,
    }


def _check_client(world: World, authorization: str, form: dict[str, str]) -> None:
    """Check the client by HTTP Basic, or by values of the form (RFC 6749 §2.3.1)."""
    client_id, secret = form.get("client_id", ""), form.get("client_secret", "")
    if authorization:
        client_id, secret = _basic(authorization)
    is_secret = hmac.compare_digest(secret.encode(errors="replace"), world.oauth_secret.encode())
    if client_id != world.bot_id or not is_secret:
        raise Refused("invalid_client", "Unknown client, or another secret.", 401)


def _basic(header: str) -> tuple[str, str]:
    scheme, _, value = header.partition(" ")
    try:
        client_id, _, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        return "", ""
    return (unquote(client_id), unquote(secret)) if scheme.lower() == "basic" else ("", "")


def _challenge(verifier: str) -> str:
    """Return the challenge of a verifier. RFC 7636 §4.2."""
    digest = hashlib.sha256(verifier.encode(errors="replace")).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _json(body: Any, status: int, headers: dict[str, str]) -> web.Response:
    return web.Response(text=shapes.text(body), status=status, content_type="application/json", headers=headers)


MOST_CHOICES = 50
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 2rem auto; padding: 0 1rem; }
label { display: block; margin-block: .75rem .25rem; }
select, input { box-sizing: border-box; width: 100%; min-height: 2.75rem; font: inherit; }
button { min-height: 2.75rem; margin-block-start: 1rem; padding-inline: 1.25rem; font: inherit; }
"""


def answer(title: str, inner: str, status: int = 200) -> web.Response:
    """Return a page. `inner`: HTML."""
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>{inner}</main></body></html>"
    )
    headers = {"Cache-Control": "no-store", "Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
    body = page.encode(errors="replace")  # members of tests have names with lone surrogates
    return web.Response(body=body, status=status, content_type="text/html", charset="utf-8", headers=headers)


def refusal(problem: str) -> web.Response:
    """Return the page for a malformed request."""
    return answer("This request cannot be answered", f"<p>{escape(problem)}</p>", status=400)


def back(url: str, more: dict[str, str]) -> web.Response:
    """Redirect with See Other to the client's address, with more in its query."""
    parts = urlsplit(url)
    query = "&".join(filter(None, [parts.query, urlencode(more)]))
    return web.Response(status=303, headers={"Location": urlunsplit(parts._replace(query=query))})


def form(question: str, field: str) -> str:
    """Return a form with Allow and Refuse, sent to the address of the page. `field`: HTML."""
    return (
        f'<p>{escape(question)}</p><form method="post">{field}'
        f'<button name="decision" value="allow">Allow</button> '
        f'<button name="decision" value="refuse" formnovalidate>Refuse</button></form>'
    )


def choice_of_members(world: World) -> str:
    """Return HTML: the latest members of the chat server, and a field for the id of any other account."""
    # The command adds linked accounts before it invents any.
    latest = [chat_id for chat_id in reversed(world.members) if chat_id != world.bot_id]
    options = "".join(
        f'<option value="{escape(chat_id)}">{escape(str(world.accounts[chat_id].get("username")))} ({escape(chat_id)})'
        f"</option>"
        for chat_id in latest[:MOST_CHOICES]
    )
    return (
        f'<label for="member">You are</label><select id="member" name="member">{options}</select>'
        f'<label for="other">or another account, by id</label>'
        f'<input id="other" name="other" inputmode="numeric" pattern="[0-9]+" autocomplete="off">'
    )
