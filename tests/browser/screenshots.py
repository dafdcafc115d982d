"""Renews docs/screenshots and the profiles of the landing page: `python -m tests.browser.screenshots [NAME…]`.

Starts the embedded service with its demo data in a directory of its own. Needs Chromium.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import FloatRect, Page

from tests.browser import chromium, people
from tests.browser.people import OPERATOR, STRANGER, USER, Site
from tests.journeys import services
from tests.journeys.operators import Operator
from tests.journeys.processes import ROOT, Server

SCREENSHOTS = ROOT / "docs" / "screenshots"
PROFILES = ROOT / "static" / "img" / "profiles"
WIDTH, HEIGHT = 1280, 860
SHOWN = ("ada", "ada-maps", "cleo")  # profiles of the landing page
PROFILE_WINDOW, PROFILE_SIZE = (640, 800), (400, 500)
SETTLED = 800  # milliseconds until pictures are drawn and the card of presence is filled


@dataclass(frozen=True)
class Shot:
    """`path`: with the values of demo.json's app; `who`: the one who looks at it."""

    name: str
    path: str
    who: str = USER


SHOTS = (
    Shot("landing", "/", STRANGER),
    Shot("profile", "/ada", STRANGER),
    Shot("leaderboard", "/leaderboard", STRANGER),
    Shot("documentation", "/docs/sign-in", STRANGER),
    Shot("sign-in-buttons", "/docs/sign-in/buttons", STRANGER),
    Shot("dashboard", "/dashboard/"),
    Shot("appearance", "/dashboard/profile/theme/"),
    Shot("visitors", "/dashboard/profile/visitors/"),
    Shot("image-host", "/dashboard/imagehost/"),
    Shot("register-an-app", "/dashboard/apps/new/"),
    Shot("try-it", "/dashboard/apps/{client_id}/try/"),
    Shot("usage", "/dashboard/apps/{client_id}/usage/"),
    Shot("api-keys", "/dashboard/api-keys/"),
    Shot("account", "/dashboard/account/"),
    Shot("consent", "/api/auth/oauth2/authorize?{request}"),
    Shot("staff", "/dashboard/staff/", OPERATOR),
    Shot("operator-home", "/admin/", OPERATOR),
)


def main(names: list[str]) -> int:
    """Take the named pictures, or all of them; "profiles" are those of the landing page."""
    with tempfile.TemporaryDirectory() as made, services.embedded_server(Path(made)) as server:
        site = Site(server, json.loads((Path(made) / "var" / "demo.json").read_text()))
        operator = Operator(_environment(server, Path(made)), Path(made) / "console.log")
        operator.do("make_busy", username=site.account(USER)["username"], client_id=site.demo["app"]["client_id"])
        operator.leave()
        with chromium.running() as chrome:
            for who in (OPERATOR, USER, STRANGER):  # presence is live by the time of the profiles
                with people.at_a_browser(chrome, site) as page:
                    if who != STRANGER:
                        people.sign_in(page, site.account(who))
                    for shot in (shot for shot in SHOTS if shot.who == who and (not names or shot.name in names)):
                        _take(page, shot, site)
                    if who == STRANGER and (not names or "profiles" in names):
                        _take_profiles(page)
    return 0


def _environment(server: Server, directory: Path) -> dict[str, str]:
    return services.embedded_values(directory, int(server.base_url.rpartition(":")[2]))


def _take(page: Page, shot: Shot, site: Site) -> None:
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.goto(shot.path.format(**dict(_values(site))))
    page.wait_for_timeout(SETTLED)
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(SCREENSHOTS / f"{shot.name}.png", optimize=True)


def _values(site: Site) -> Iterator[tuple[str, str]]:
    app: dict[str, Any] = site.demo["app"]
    yield "client_id", app["client_id"]
    request = {
        "client_id": app["client_id"],
        "redirect_uri": app["redirect_uris"][0],
        "response_type": "code",
        "scope": " ".join(app["scopes"]),
        "state": "a state",
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "code_challenge_method": "S256",
    }
    yield "request", urlencode(request)


def _take_profiles(page: Page) -> None:
    """Take the first part of each profile, below the header of the site."""
    PROFILES.mkdir(exist_ok=True)
    width, height = PROFILE_WINDOW
    page.set_viewport_size({"width": width, "height": height + 100})
    for name in SHOWN:
        page.goto(f"/{name}")
        page.wait_for_timeout(SETTLED)
        header = page.locator(".site-header").bounding_box()
        assert header is not None
        part: FloatRect = {"x": 0, "y": header["height"], "width": width, "height": height}
        picture = Image.open(io.BytesIO(page.screenshot(clip=part))).convert("RGB")
        small = picture.resize(PROFILE_SIZE, Image.Resampling.LANCZOS)
        small.save(PROFILES / f"{name}.webp", quality=45, method=6)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
