"""The running service that the samples call: the embedded default, with a signed-in reader of the pages."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import requests

from tests.journeys.browser import Browser

TIMEOUT = 15
NONCE = "n-0S6_WzA2Mj"  # of each sign-in
JSON = dict[str, Any]


@dataclass
class SampleService:
    """`demo`: what demo.json says. The reader is its first user, who owns the keys and the app."""

    base_url: str
    demo: JSON
    browser: Browser
    _twins: dict[str, str] = field(default_factory=dict)

    @classmethod
    def enter(cls, base_url: str, var: Path) -> SampleService:
        """Signed in through the login page."""
        demo = json.loads((var / "demo.json").read_text())
        browser = Browser(base_url)
        reader = demo["users"][0]
        browser.open("/accounts/login/").press("Sign in", login=reader["username"], password=reader["password"])
        return cls(base_url, demo, browser)

    def twin(self, slug: str) -> str:
        """As the reader gets it."""
        if slug not in self._twins:
            path = f"/docs/{slug}.md" if slug else "/docs.md"
            response = self.browser.session.get(f"{self.base_url}{path}", timeout=TIMEOUT)
            assert response.status_code == 200
            self._twins[slug] = response.text
        return self._twins[slug]

    def environment(self, slug: str) -> dict[str, str]:
        """What the page says that the reader has to set: the key whose beginning it shows, or the app's secret."""
        twin = self.twin(slug)
        values: dict[str, str] = {}
        if "CLIENT_SECRET" in twin:
            values["CLIENT_SECRET"] = self.demo["app"]["client_secret"]
        if shown := re.search(r"your key (\S+)…", twin):
            (values["API_KEY"],) = [entry["key"] for entry in self.demo["api_keys"] if shown[1] in entry["key"]]
        elif "API_KEY" in twin:
            values["API_KEY"] = self.key("imagehost:upload")
        return values

    def key(self, permission: str) -> str:
        return next(str(entry["key"]) for entry in self.demo["api_keys"] if entry["permissions"] == [permission])

    # --- What a sample needs before it can run ---

    def folders(self) -> list[JSON]:
        return list(self._folders("GET").json()["folders"])

    def fresh_folder(self) -> str:
        """The id of a new one."""
        made = self._folders("POST", json={"folderName": f"Sample {secrets.token_hex(4)}"}).json()
        return str(made["folder"]["id"])

    def forget_folders(self, *beginnings: str) -> None:
        for folder in self.folders():
            if str(folder["folderName"]).startswith(beginnings):
                self._folders("DELETE", f"/{folder['id']}")

    def code(self) -> dict[str, str]:
        """An authorization code for the reader's app, as the environment of the token samples."""
        verifier = secrets.token_urlsafe(48)
        digest = hashlib.sha256(verifier.encode()).digest()
        query = {
            "response_type": "code",
            "client_id": self.demo["app"]["client_id"],
            "redirect_uri": self.demo["app"]["redirect_uris"][0],
            "scope": "openid identify offline_access",
            "state": "s",
            "nonce": NONCE,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        self.open_authorize(f"{self.base_url}/api/auth/oauth2/authorize?{urlencode(query)}")
        return {"CODE": parse_qs(urlsplit(self.browser.left_for).query)["code"][0], "CODE_VERIFIER": verifier}

    def open_authorize(self, url: str) -> str:
        """Where the browser is sent in the end; the person allows what they are asked."""
        self.browser.open(url)
        if not self.browser.left_for:
            self.browser.press("Allow")
        return self.browser.left_for

    def tokens(self) -> dict[str, str]:
        """The tokens of a new sign-in, as the environment of the samples."""
        app, code = self.demo["app"], self.code()
        form = {
            "grant_type": "authorization_code",
            "code": code["CODE"],
            "code_verifier": code["CODE_VERIFIER"],
            "redirect_uri": app["redirect_uris"][0],
        }
        url = f"{self.base_url}/api/auth/oauth2/token"
        answer = requests.post(url, data=form, auth=(app["client_id"], app["client_secret"]), timeout=TIMEOUT).json()
        names = ("access_token", "refresh_token", "id_token")
        return {"NONCE": NONCE, **{name.upper(): answer[name] for name in names}}

    def _folders(self, method: str, rest: str = "", **body: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.key('account')}"}
        url = f"{self.base_url}/api/imagehost/folders{rest}"
        response = requests.request(method, url, headers=headers, timeout=TIMEOUT, **body)
        assert response.ok, response.text
        return response
