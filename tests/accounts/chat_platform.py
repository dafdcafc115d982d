"""A chat platform on which Ada has an account, and the ways there and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from django.test import Client
from pytest_django import Settings

from tests.accounts import linking_pages, scripted
from tests.accounts.linking_pages import CHAT_CALLBACK, LINK_CHAT, Answer
from tests.accounts.scripted import Scripted, of_json

ID, HASH = "80351110224678912", "8342729096ea3675442027381ff50dfe"
CLIENT_ID, SECRET = "268473310000000001", "the-secret-of-the-platform"
TOKEN_PATH, ME_PATH = "/api/v10/oauth2/token", "/api/v10/users/@me"
ADA: dict[str, Any] = {"id": ID, "username": "ada", "avatar": HASH, "discriminator": "0", "global_name": "Ada L."}

NOT_ANSWERING = "The chat platform does not answer as it should at the moment. Nothing was changed; try again later."


@contextmanager
def running(settings: Settings) -> Iterator[Scripted]:
    """The settings point at it."""
    with scripted.running() as platform:
        settings.CHAT_CDN_URL = "https://cdn.chat.example"
        settings.CHAT = replace(
            settings.CHAT,
            api_url=f"{platform.url}/api/v10",
            oauth_authorize_url="https://chat.example/oauth2/authorize",
            oauth_client_id=CLIENT_ID,
            oauth_client_secret=SECRET,
        )
        platform.replies[TOKEN_PATH] = of_json({"access_token": "the-access-token", "token_type": "Bearer"})
        platform.replies[ME_PATH] = of_json(ADA)
        yield platform


def begun(browser: Client) -> str:
    """The state of a linking that has begun."""
    return linking_pages.query_of(browser.post(LINK_CHAT))["state"]


def back(browser: Client, **query: str) -> Answer:
    """From the platform."""
    return browser.get(CHAT_CALLBACK, query)


def link(browser: Client) -> Answer:
    return back(browser, state=begun(browser), code="the-code")
