"""Long texts are compressed; secrets, files and streams are left as they are."""

from __future__ import annotations

import gzip

import pytest
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.test import Client, RequestFactory

from config.web import door
from config.web.middleware import CompressionMiddleware
from tests.factories.accounts import UserFactory

JSON, HTML = "application/json", "text/html; charset=utf-8"


def served(response: HttpResponseBase, path: str = "/page", **headers: str) -> HttpResponseBase:
    request: HttpRequest = RequestFactory().get(path, headers={"Accept-Encoding": "br, gzip", **headers})
    answer = CompressionMiddleware(lambda request: response)(request)
    assert isinstance(answer, HttpResponseBase)
    return answer


@pytest.mark.parametrize(
    ("path", "content_type", "caching", "size", "is_compressed"),
    [
        ("/page", HTML, "", 1024, True),
        ("/page", HTML, "", 1023, False),
        ("/page", HTML, "private, no-cache", 1024, True),
        ("/accounts/login/", HTML, "max-age=0, no-cache, no-store, must-revalidate, private", 9000, False),
        ("/api/auth/oauth2/token", JSON, "no-store", 9000, False),
        ("/api/auth/jwks", JSON, "public, max-age=300", 4096, True),
        ("/api/lookup/user", JSON, "private, no-store", 4096, True),
        ("/api/lookup/user", JSON, "private, no-store", 4095, False),
        ("/docs/openapi.yaml", "application/vnd.oai.openapi", "public", 1024, True),
        ("/llms.txt", "text/plain; charset=utf-8", "public", 1024, True),
        ("/media/a.png", "image/png", "public", 9000, False),
    ],
)
def test_what_is_compressed(path: str, content_type: str, caching: str, size: int, *, is_compressed: bool) -> None:
    body = b"x" * size
    response = HttpResponse(body, content_type=content_type, headers={"ETag": '"a"', "Cache-Control": caching})
    answer = served(response, path)
    assert isinstance(answer, HttpResponse)
    assert ("Content-Encoding" in answer.headers) is is_compressed
    assert (gzip.decompress(answer.content) if is_compressed else answer.content) == body
    assert answer.headers["ETag"] == ('W/"a"' if is_compressed else '"a"')
    assert ("Vary" in answer.headers) is is_compressed


@pytest.mark.parametrize("accepted", ["identity", "gzip;q=0", "br, GZip ; q=0.0, *"])
def test_a_client_that_takes_no_gzip_gets_none(accepted: str) -> None:
    answer = served(HttpResponse("x" * 5000), **{"Accept-Encoding": accepted})
    assert "Content-Encoding" not in answer.headers
    assert answer.headers["Vary"] == "Accept-Encoding"


def test_a_client_that_takes_gzip_at_last_gets_it() -> None:
    answer = served(HttpResponse("x" * 5000), **{"Accept-Encoding": "br, gzip;q=0.01, identity;q=0"})
    assert answer.headers["Content-Encoding"] == "gzip"


@pytest.mark.parametrize("response_type", [StreamingHttpResponse, FileResponse])
def test_files_and_streams_are_not_compressed(response_type: type[StreamingHttpResponse]) -> None:
    answer = served(response_type([b"x" * 5000], content_type=HTML))
    assert "Content-Encoding" not in answer.headers


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/accounts/login/", "/accounts/signup/"])
def test_a_page_with_a_form_token_is_not_compressed(client: Client, path: str) -> None:
    answer = client.get(path, headers={"Accept-Encoding": "gzip"})
    assert (answer.status_code, "Content-Encoding" in answer.headers) == (200, False)
    assert b"csrfmiddlewaretoken" in answer.content


@pytest.mark.django_db
def test_a_compressed_profile_page_is_found_unchanged_by_its_etag(client: Client) -> None:
    UserFactory(username="opal")
    accept = {"Accept-Encoding": "gzip"}
    page = client.get("/opal", headers=accept)
    assert b"opal" in gzip.decompress(page.content)
    again = client.get("/opal", headers={**accept, "If-None-Match": page.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_long_body_that_is_sent_again_is_compressed_once() -> None:
    door._kept.cache_clear()
    first, last = door.KEPT_LENGTHS[0], door.KEPT_LENGTHS[-1]
    for length, kept in ((first - 1, 0), (first, 1), (first, 1), (last, 2), (last + 1, 2)):
        for _ in range(2):
            headers: dict[str, str] = {}
            assert gzip.decompress(door.compressed_json(headers, b"x" * length, "gzip")) == b"x" * length
            assert int(headers["Content-Length"]) < length
        assert door._kept.cache_info().misses == kept
