"""A music scrobbler with web authentication (https://www.last.fm/api/webauth): enough to link an account."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web

from demo.chat_platform import oauth, shapes
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import World

API_KEY = "simulated"
TOKEN_SECONDS = 3600
UNSIGNED = {"format", "callback", "api_sig"}
INVALID_METHOD, AUTHENTICATION_FAILED, INVALID_PARAMETERS = 3, 4, 6
INVALID_KEY, INVALID_SIGNATURE, TOKEN_EXPIRED = 10, 13, 15
NAME = '<label for="name">Your name there</label><input id="name" name="name" required maxlength="15" value="listener">'


class Failure(Exception):
    """An error of the protocol, by its number."""

    def __init__(self, code: int, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.body = {"message": message, "error": code}
        self.status = status


def routes(world: World) -> list[web.RouteDef]:
    """Return the routes. The secret that signs is the platform's OAuth secret: a simulated world has one."""
    tokens: dict[str, tuple[str, float]] = {}  # whose, and when they were issued (UNIX seconds)

    async def show(request: web.Request) -> web.StreamResponse:
        if problem := _problem(request.query):
            return oauth.refusal(problem)
        return oauth.answer("Simulated scrobbler", oauth.form("An app asks what you listen to.", NAME))

    async def decide(request: web.Request) -> web.StreamResponse:
        return _decide(tokens, request.query, await request.post())

    async def call(request: web.Request) -> web.StreamResponse:
        if status := 503 if world.switches.rest_is_down else world.switches.rest_status:
            return web.Response(status=status, text="Out of order")
        values = {**request.query, **(await request.post())}
        try:
            return _json(_session(tokens, world.oauth_secret, values), 200)
        except Failure as failure:
            return _json(failure.body, failure.status)

    return [
        web.get("/scrobbler/auth/", show),
        web.post("/scrobbler/auth/", decide),
        web.get("/scrobbler/2.0/", call),
        web.post("/scrobbler/2.0/", call),
    ]


def _decide(tokens: dict[str, tuple[str, float]], asked: Any, form: Any) -> web.Response:
    """Answer the form (`asked`, `form`: aiohttp's mappings). Unlike the real service, a refusal goes back."""
    name = str(form.get("name", "")).strip()
    if problem := _problem(asked):
        return oauth.refusal(problem)
    if form.get("decision") != "allow":
        return web.Response(status=303, headers={"Location": asked["cb"]})
    if not name:
        return oauth.answer("A name is needed", "<p>Go back and type one.</p>", status=400)
    token = secrets.token_urlsafe(24)
    tokens[token] = (name, time.time())
    return oauth.back(asked["cb"], {"token": token})


def _problem(asked: Any) -> str:
    if asked.get("api_key") != API_KEY:
        return "Invalid API key."
    return "" if urlsplit(asked.get("cb", "")).scheme in {"http", "https"} else "No callback address."


def _session(tokens: dict[str, tuple[str, float]], secret: str, values: dict[str, Any]) -> Json:
    """Answer auth.getSession. `values`: of query and form; strings, or any value that a client uploads."""
    call = {name: value for name, value in values.items() if isinstance(value, str)}
    if call.get("method") != "auth.getSession":
        raise Failure(INVALID_METHOD, "Invalid Method - No method with that name in this package", 400)
    if call.get("api_key") != API_KEY:
        raise Failure(INVALID_KEY, "Invalid API key - You must be granted a valid key by last.fm")
    if "token" not in call:
        raise Failure(INVALID_PARAMETERS, "Invalid parameters - Your request is missing a required parameter", 400)
    if not hmac.compare_digest(_signature(call, secret), call.get("api_sig", "").lower().encode()):
        raise Failure(INVALID_SIGNATURE, "Invalid method signature supplied")
    name, issued_at = tokens.pop(call["token"], ("", 0.0))
    if not name:
        raise Failure(AUTHENTICATION_FAILED, "Invalid authentication token supplied")
    if time.time() - issued_at > TOKEN_SECONDS:
        raise Failure(TOKEN_EXPIRED, "This token has expired")
    return {"session": {"subscriber": 0, "name": name, "key": secrets.token_hex(16)}}


def _signature(call: dict[str, str], secret: str) -> bytes:
    text = "".join(f"{name}{value}" for name, value in sorted(call.items()) if name not in UNSIGNED) + secret
    return hashlib.md5(text.encode(errors="replace"), usedforsecurity=False).hexdigest().encode()


def _json(body: Json, status: int) -> web.Response:
    return web.Response(text=shapes.text(body), status=status, content_type="application/json")
