"""A member of the service with a browser, an app and a program, and their daily actions."""

from __future__ import annotations

import io
from typing import Any

import requests
from PIL import Image

from tests.journeys.browser import TIMEOUT, Browser
from tests.journeys.people import App, Person
from tests.journeys.relying_party import RelyingParty


class Member:
    """`files`: the URLs of the member's uploads, with their bytes."""

    def __init__(self, base_url: str, person: Person, app: App, key: str) -> None:
        self.base_url, self.person, self.app = base_url, person, app
        self.browser = Browser(base_url)
        self.files: dict[str, bytes] = {}
        self._headers = {"X-API-Key": key}
        self._party: RelyingParty | None = None
        self._tokens: dict[str, Any] = {}  # Any: as the token endpoint answers

    @property
    def party(self) -> RelyingParty:
        """Read the discovery document; a host must be running."""
        self._party = self._party or RelyingParty(self.base_url, self.app)
        return self._party

    def sign_in(self) -> None:
        """The first sign-in, with consent."""
        self.person.sign_in(self.browser.open(self.party.begin()))
        self._tokens = self.party.finish(self.browser.press("Allow").left_for)

    def do_everything(self, sentence: str) -> None:
        """Use the earlier session and tokens. `sentence`: the new description of the profile."""
        self.sign_in_again()
        self.refresh()
        self.edit(sentence)
        assert sentence in self.look_up().text
        self.upload(sentence)
        self.read_files()

    def sign_in_again(self) -> None:
        """Sign in with the kept session and approval."""
        tokens = self.party.finish(self.browser.open(self.party.begin(prompt="none")).left_for)
        assert self.party.claims(tokens["id_token"], nonce=self.party.nonce)["sub"] == self.person.id
        assert self.party.introspect(tokens["access_token"])["active"] is True

    def refresh(self) -> None:
        """Refresh the tokens of the first sign-in once more."""
        self._tokens = self.party.refresh(self._tokens["refresh_token"])
        assert self.party.userinfo(self._tokens["access_token"]).json()["sub"] == self.person.id

    def edit(self, sentence: str) -> None:
        self.browser.open("/dashboard/profile/").press("Save", description=sentence)
        assert "Profile saved." in self.browser.text

    def look_up(self) -> requests.Response:
        url = f"{self.base_url}/api/lookup/user?type=username&value={self.person.username}&profile=true"
        answer = requests.get(url, headers=self._headers, timeout=TIMEOUT)
        assert answer.status_code == 200, answer.text
        return answer

    def upload(self, name: str) -> None:
        file = io.BytesIO()
        Image.new("RGB", (8, 8), (len(self.files), 0, 0)).save(file, "PNG")
        url = f"{self.base_url}/api/imagehost/upload"
        answer = requests.post(
            url, headers=self._headers, files={"file": (f"{name}.png", file.getvalue())}, timeout=TIMEOUT
        )
        assert answer.status_code == 200, answer.text
        self.files[answer.json()["url"]] = file.getvalue()

    def read_files(self) -> None:
        for url, content in self.files.items():
            answer = requests.get(url, timeout=TIMEOUT)
            assert answer.status_code == 200, url
            assert Image.open(io.BytesIO(answer.content)).size == Image.open(io.BytesIO(content)).size
