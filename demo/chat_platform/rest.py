"""The REST routes, version 10, for bots, and the outside profile source."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from demo.chat_platform import oauth, shapes
from demo.chat_platform.shapes import Json
from demo.chat_platform.world import World

API = "/api/v10"
MOST_LISTED = 1000
UNKNOWN_GUILD, UNKNOWN_MEMBER, UNKNOWN_USER = 10004, 10007, 10013
BOTS_MAY_NOT, INVALID_FORM = 20001, 50035
TOTAL_STARTS, RESET_AFTER = 1000, 14_400_000  # IDENTIFYs a day; milliseconds until the count restarts


def answer(value: object, status: int = 200) -> web.Response:
    """Answer with exactly `application/json` as content type: clients compare it."""
    return web.Response(body=shapes.text(value).encode(), status=status, content_type="application/json")


def refusal(status: int, message: str, code: int = 0) -> web.Response:
    return answer({"message": message, "code": code}, status)


def middleware(world: World) -> Middleware:
    """Count requests, fail as the switches say, and write errors in the platform's form."""

    @web.middleware
    async def around(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(f"{API}/"):
            return await handler(request)
        world.counters.rest.append(request.path)
        if world.switches.rest_is_down:
            return web.Response(status=503, text="upstream connect error")
        if world.switches.rest_status:
            return refusal(world.switches.rest_status, "As you asked")
        try:
            return await handler(request)
        except web.HTTPException as error:
            return refusal(error.status, f"{error.status}: {error.reason}")

    return around


class Rest:
    """The handlers. Handlers in `_for_bots` want `Authorization: Bot <token>`."""

    def __init__(self, world: World) -> None:
        self.world = world

    def routes(self) -> list[web.RouteDef]:
        of_bots = {
            "/gateway/bot": self.gateway_of_bot,
            "/applications/@me": self.application,
            "/oauth2/applications/@me": self.application,
            "/users/{id}": self.user,
            "/users/{id}/profile": self.profile,
            "/guilds/{guild_id}/members": self.members,
            "/guilds/{guild_id}/members/{id}": self.member,
        }
        return [
            web.get(f"{API}/gateway", self.gateway),
            web.get(f"{API}/users/@me", self.me),
            web.get("/profiles/{id}", self.outside_profile),
            *(web.get(f"{API}{path}", self._for_bots(handler)) for path, handler in of_bots.items()),
        ]

    def _for_bots(self, handler: Callable[[web.Request], web.Response]) -> Handler:
        async def checked(request: web.Request) -> web.StreamResponse:
            if request.headers.get("Authorization") != f"Bot {self.world.bot_token}":
                return refusal(401, "401: Unauthorized")
            return handler(request)

        return checked

    async def gateway(self, request: web.Request) -> web.Response:
        return answer({"url": self.world.gateway_url})

    def gateway_of_bot(self, request: web.Request) -> web.Response:
        limit = {
            "total": TOTAL_STARTS,
            "remaining": self.world.switches.starts_left,
            "reset_after": RESET_AFTER,
            "max_concurrency": 1,
        }
        return answer({"url": self.world.gateway_url, "shards": 1, "session_start_limit": limit})

    async def me(self, request: web.Request) -> web.Response:
        """Return the bot, or the user of the bearer token."""
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        if kind == "Bot" and token == self.world.bot_token:
            bot = self.world.accounts[self.world.bot_id]
            return answer({**bot, "flags": 0, "verified": True, "mfa_enabled": True, "locale": "en-US", "email": None})
        user = oauth.user_of_bearer(self.world, token) if kind == "Bearer" else None
        if user is None:
            return refusal(401, "401: Unauthorized")
        return answer({**user, "flags": user["public_flags"], "mfa_enabled": False, "locale": "en-US"})

    def application(self, request: web.Request) -> web.Response:
        bot = self.world.accounts[self.world.bot_id]
        return answer({"id": self.world.bot_id, **shapes.words.APPLICATION, "owner": {**bot, "flags": 0}, "bot": bot})

    def user(self, request: web.Request) -> web.Response:
        chat_id = request.match_info["id"]
        if not (chat_id.isascii() and chat_id.isdigit()):
            return _not_a_snowflake(chat_id)
        if chat_id not in self.world.accounts:
            return refusal(404, "Unknown User", UNKNOWN_USER)
        return answer(self.world.accounts[chat_id])

    def profile(self, request: web.Request) -> web.Response:
        return refusal(403, "Bots cannot use this endpoint", BOTS_MAY_NOT)

    def member(self, request: web.Request) -> web.Response:
        chat_id = request.match_info["id"]
        if request.match_info["guild_id"] != self.world.guild_id:
            return refusal(404, "Unknown Guild", UNKNOWN_GUILD)
        if not (chat_id.isascii() and chat_id.isdigit()):
            return _not_a_snowflake(chat_id)
        if chat_id in self.world.members:
            return _as_json(self.world.members[chat_id].text)
        if chat_id in self.world.accounts:
            return refusal(404, "Unknown Member", UNKNOWN_MEMBER)
        return refusal(404, "Unknown User", UNKNOWN_USER)

    def members(self, request: web.Request) -> web.Response:
        """Return members by id, a page at a time."""
        if request.match_info["guild_id"] != self.world.guild_id:
            return refusal(404, "Unknown Guild", UNKNOWN_GUILD)
        limit, after = request.query.get("limit", "1"), request.query.get("after", "0")
        if not (limit.isdecimal() and 1 <= int(limit) <= MOST_LISTED and after.isdecimal()):
            return refusal(400, "Invalid Form Body", INVALID_FORM)
        ids = sorted(chat_id for chat_id in map(int, self.world.members) if chat_id > int(after))[: int(limit)]
        return _as_json(f"[{','.join(self.world.members[str(chat_id)].text for chat_id in ids)}]")

    async def outside_profile(self, request: web.Request) -> web.Response:
        """Answer as an HTTP profile source; 404 for accounts that are no members."""
        if self.world.switches.profiles_are_down:
            return answer({"error": "down"}, 503)
        member = self.world.members.get(request.match_info["id"])
        if member is None:
            return answer({"error": "unknown"}, 404)
        return _as_json(member.profile) if member.profile else answer({"biography": None, "badges": []})


def _as_json(text: str) -> web.Response:
    return web.Response(body=text.encode(), content_type="application/json")


def _not_a_snowflake(value: str) -> web.Response:
    problem: Json = {"code": "NUMBER_TYPE_COERCE", "message": f'Value "{value}" is not snowflake.'}
    errors = {"user_id": {"_errors": [problem]}}
    return answer({"message": "Invalid Form Body", "code": INVALID_FORM, "errors": errors}, 400)
