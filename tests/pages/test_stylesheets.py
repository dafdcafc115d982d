"""Each class has one stylesheet, a page loads few of them, and public pages load none of the dashboard."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import User

STYLES = Path(settings.BASE_DIR, "static", "css")
MOST_SHEETS = 4  # of one page
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SELECTORS = re.compile(r"([^{}]+)\{")


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
