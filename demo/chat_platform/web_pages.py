"""The two pages on which you choose your account on the simulated platforms: plain HTML without authentication."""

from __future__ import annotations

from html import escape
from urllib.parse import urlencode, urlsplit, urlunsplit

from aiohttp import web

from demo.chat_platform.world import World

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
    options = "".join(
        f'<option value="{escape(chat_id)}">{escape(str(world.accounts[chat_id].get("username")))} ({escape(chat_id)})'
        f"</option>"
        for chat_id in _latest_members(world)
    )
    return (
        f'<label for="member">You are</label><select id="member" name="member">{options}</select>'
        f'<label for="other">or another account, by id</label>'
        f'<input id="other" name="other" inputmode="numeric" pattern="[0-9]+" autocomplete="off">'
    )


def _latest_members(world: World) -> list[str]:
    """Return the latest members first: the command adds linked accounts before it invents any."""
    return [chat_id for chat_id in reversed(world.members) if chat_id != world.bot_id][:MOST_CHOICES]
