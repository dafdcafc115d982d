"""Who calls the API in these tests."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass

import requests
from PIL import Image

from tests.journeys.people import Person
from tests.production.shape import Shape
from tests.production.waiting import TIMEOUT

PERMISSIONS = ("account", "imagehost:upload", "lookup:user", "lookup:presence")
PICTURE = (64, 48)  # width and height


@dataclass(frozen=True)
class Caller:
    """A person with an API key that has every permission these tests need. All requests pass nginx."""

    base_url: str
    person: Person
    key: str

    @classmethod
    def of(cls, shape: Shape, person: Person) -> Caller:
        made = shape.manage("a", "issue_api_key", "--owner", person.username, "--permission", *PERMISSIONS, "--json")
        return cls(shape.base_url, person, json.loads(made)["key"])

    @property
    def headers(self) -> dict[str, str]:
        return {"X-API-Key": self.key}

    @property
    def lookup_url(self) -> str:
        """Of the person's own record. A lookup needs the database and Redis."""
        return f"{self.base_url}/api/lookup/user?type=username&value={self.person.username}"

    def get(self, url: str) -> requests.Response:
        return requests.get(url, headers=self.headers, timeout=TIMEOUT)

    def look_up(self, session: requests.Session | None = None) -> requests.Response:
        return (session or requests).get(self.lookup_url, headers=self.headers, timeout=TIMEOUT)

    def upload(self, color: str) -> str:
        """The URL of the file of a picture in one color."""
        content = io.BytesIO()
        Image.new("RGB", PICTURE, color).save(content, "PNG")
        files = {"file": ("picture.png", content.getvalue(), "image/png")}
        url = f"{self.base_url}/api/imagehost/upload"
        answer = requests.post(url, files=files, headers=self.headers, timeout=TIMEOUT)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["url"])


def preview_path(url: str) -> str:
    """Where the preview of the file at `url` is."""
    return f"/files/{url.rpartition('/')[2].partition('.')[0]}/preview.webp"
