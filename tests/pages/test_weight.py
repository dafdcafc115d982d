"""What a first view of a page costs: queries, and bytes over the wire with its styles, scripts and pictures. Each class
has one stylesheet, a page loads few of them, and public pages load none of the dashboard."""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from accounts.models import User
from tests.factories.accounts import ApiKeyFactory
from tests.factories.lookup import ProfileFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db

MOST_BYTES = 60_000
MOST_SHEETS = 4  # of one page
STYLES = Path(settings.BASE_DIR, "static", "css")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTORS = re.compile(r"([^{}]+)\{")
_ASSET = re.compile(r'(?:href|src)="/static/([^"?#]+)')
_IMPORTED = re.compile(r"url\([\"']?(?!data:)([^\"')?#]+)")
_COMPRESSED = {".css", ".js", ".svg"}


def weight(client: Client, path: str) -> int:
    """Bytes of the page and of all that it brings from our own files, compressed as the web server has them."""
    response = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert response.status_code == 200
    is_compressed = response.headers.get("Content-Encoding") == "gzip"
    page = gzip.decompress(response.content) if is_compressed else response.content
    assets = _with_imports({_found(name) for name in _ASSET.findall(page.decode())})
    assert {asset.suffix for asset in assets} >= {".css", ".svg"}
    return len(response.content) + sum(_size(asset) for asset in assets)


def _found(name: str) -> Path:
    """The source of a static file; the name may hold the hash of its content."""
    path = finders.find(name) or finders.find(re.sub(r"\.[0-9a-f]{12}(\.\w+)$", r"\1", name))
    assert path, name
    return Path(path)


def _with_imports(assets: set[Path]) -> set[Path]:
    """`assets`, and what the styles among them name: fonts and pictures."""
    named = {
        (asset.parent / name).resolve()
        for asset in assets
        if asset.suffix == ".css"
        for name in _IMPORTED.findall(asset.read_text())
    }
    return assets | named


def _size(asset: Path) -> int:
    content = asset.read_bytes()
    return len(gzip.compress(content, 9)) if asset.suffix in _COMPRESSED else len(content)


@pytest.fixture
def owner(user: User) -> User:
    """A user with a profile, a key and an app."""
    ProfileFactory(user=user, description="A few words. " * 40)
    ApiKeyFactory(owner=user)
    ApplicationFactory(user=user)
    return user


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize(
    "path", ["/dashboard/", "/dashboard/profile/", "/docs", "/", "/ada", "/leaderboard/uid", "/search?q=ada"]
)
def test_a_first_view_is_light(signed_in: Client, path: str) -> None:
    assert weight(signed_in, path) <= MOST_BYTES


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize(("path", "queries"), [("/dashboard/", 12), ("/ada", 5), ("/docs", 4)])
def test_a_page_asks_the_database_little(
    signed_in: Client, django_assert_max_num_queries: Any, path: str, queries: int
) -> None:
    signed_in.get(path)
    with django_assert_max_num_queries(queries):
        assert signed_in.get(path).status_code == 200


def test_no_class_is_defined_in_two_stylesheets() -> None:
    """A rule for a class alone defines it; other rules place it in a context."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in STYLES.glob("*.css"):
        for selectors in _SELECTORS.findall(_COMMENT.sub("", path.read_text())):
            for selector in selectors.split(","):
                if re.fullmatch(r"\.[\w-]+", selector.strip()):
                    found[selector.strip()].add(path.name)
    assert len(found) > 200
    assert {name: sorted(files) for name, files in found.items() if len(files) > 1} == {}


@pytest.mark.parametrize(
    "path",
    ["/", "/docs", "/docs/lookup/user", "/accounts/login/", "/accounts/signup/", "/ada", "/leaderboard/uid", "/search"],
)
def test_public_pages_load_no_stylesheet_of_the_dashboard(client: Client, user: User, path: str) -> None:
    response = client.get(path.replace("ada", user.username))
    assert response.status_code == 200
    assert "css/base" in (page := response.content.decode())
    assert "css/dashboard" not in page
    assert page.count('rel="stylesheet"') <= MOST_SHEETS


@pytest.mark.parametrize(
    "path", ["/dashboard/", "/dashboard/apps/new/", "/dashboard/profile/", "/dashboard/imagehost/"]
)
def test_a_page_of_the_dashboard_loads_few_stylesheets(signed_in: Client, path: str) -> None:
    page = signed_in.get(path).content.decode()
    assert "css/dashboard" in page
    assert page.count('rel="stylesheet"') <= MOST_SHEETS
