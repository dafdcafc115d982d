"""Uploaded files are served past the pages' middleware; a host of their own serves nothing else."""

from collections.abc import Iterator
from importlib import reload

import pytest
from django.test import Client
from pytest_django import Settings

from imagehost import content_urls

OWN_HOST = "files.example.org"


@pytest.fixture(params=["", "/u/i"])
def content_path(request: pytest.FixtureRequest, settings: Settings) -> Iterator[str]:
    """Where files are on the host of their own."""
    url = settings.IMAGE_CDN_URL
    settings.IMAGE_CDN_URL = f"http://{OWN_HOST.title()}{request.param}"
    settings.ALLOWED_HOSTS, settings.HOSTS = [*settings.ALLOWED_HOSTS, OWN_HOST], [*settings.HOSTS, OWN_HOST]
    reload(content_urls)
    yield request.param
    settings.IMAGE_CDN_URL = url
    reload(content_urls)


@pytest.mark.django_db
def test_a_file_that_is_not_there_sets_no_cookie_and_opens_no_session() -> None:
    response = Client().get("/media/aaaaaaaa.png")
    assert response.status_code == 404
    assert not response.cookies
    assert response.headers["Vary"] == "Sec-Fetch-Dest"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_a_path_of_two_names_is_no_file() -> None:
    response = Client().get("/media/a/b.png")
    assert (response.status_code, response.content) == (404, b"There is no such file.\n")
    assert response.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/", "/accounts/login/", "/api/imagehost/gallery"])
def test_the_contents_own_host_serves_no_page(content_path: str, path: str) -> None:
    response = Client(headers={"host": OWN_HOST}).get(path)
    assert (response.status_code, response.content[:9]) == (404, b"There is ")


@pytest.mark.django_db
def test_the_contents_own_host_serves_files_where_its_url_says(content_path: str) -> None:
    client = Client(headers={"host": OWN_HOST})
    response = client.get(f"{content_path}/aaaaaaaa.png")
    assert response.status_code == 404
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize(
    ("host", "status"),
    [(OWN_HOST.upper(), 404), (f"{OWN_HOST}:80", 404), (f"{OWN_HOST}:443", 400), (f"{OWN_HOST}.", 400)],
)
def test_no_spelling_of_the_contents_own_host_serves_pages(content_path: str, host: str, status: int) -> None:
    assert Client(headers={"host": host}).get("/accounts/login/").status_code == status


@pytest.mark.django_db
def test_other_hosts_are_not_the_contents_own(content_path: str) -> None:
    assert Client().get("/accounts/login/").status_code == 200


def test_an_unknown_host_is_refused_here_too() -> None:
    assert Client(headers={"host": "elsewhere.example"}).get("/media/aaaaaaaa.png").status_code == 400
