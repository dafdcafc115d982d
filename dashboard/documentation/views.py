"""The documentation: pages, their Markdown source, search, and the documents for programs."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_cache_control, patch_vary_headers
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.client_apps import sign_in_buttons
from dashboard.client_apps.error_guide import anchor_of
from dashboard.documentation import contents, expansion, explorer, personalization, rendering, schema, searching
from infrastructure.requests import content_security, kept_html

CACHED_FOR = 300  # seconds; pages of signed-in readers hold their ids and are not cached

BUTTONS_CACHED_FOR = 24 * 3600  # seconds
# The picture holds the logo as data. Opened in a tab it is a document without scripts.
BUTTON_POLICY = "default-src 'none'; img-src data:; sandbox"


@require_safe
def page(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Show a page. 3 queries for a reader who is signed in plus the session's."""
    shown = _page_of(slug)
    key = kept_html.digest("docs", slug)
    return _cached(request, kept_html.answer(request, key, lambda: _rendered(request, shown)))


def _rendered(request: HttpRequest, shown: contents.Page) -> HttpResponse:
    reader = personalization.of(request.user)
    made = rendering.rendered(expansion.expanded(shown))
    texts = {"lead": reader.fill_html(made.lead), "rest": reader.fill_html(made.rest)}
    context = {"page": shown, **texts, "headings": made.headings, "own": reader.own}
    context["address"] = f"{settings.BASE_URL}{shown.path}"
    context["has_explorer"] = any(each.page is shown for each in explorer.explorers().values())
    return render(request, "docs/page.html", {**context, "groups": contents.groups()})


@require_safe
def markdown_source(request: HttpRequest, slug: str = "") -> HttpResponse:
    """Return a page in Markdown."""
    text = personalization.of(request.user).fill(expansion.as_text(_page_of(slug)))
    return _cached(request, HttpResponse(text, content_type="text/markdown; charset=utf-8"))


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:100]
    context = {"query": query, "results": searching.find(query), "groups": contents.groups()}
    return _cached(request, render(request, "docs/search.html", context))


@require_safe
def llms_txt(request: HttpRequest) -> HttpResponse:
    """Return the index of the pages for AI tools and scripts (https://llmstxt.org)."""
    context = {"site_name": settings.SITE_NAME, "base_url": settings.BASE_URL, "groups": contents.groups()}
    return _public(HttpResponse(render_to_string("docs/llms.txt", context), content_type="text/plain; charset=utf-8"))


@require_safe
def changelog_feed(request: HttpRequest) -> HttpResponse:
    return _public(ChangesFeed()(request))


@require_safe
def openapi_yaml(request: HttpRequest) -> HttpResponse:
    """Return the document of /docs/openapi.json as YAML."""
    return _public(HttpResponse(schema.as_yaml(), content_type="application/vnd.oai.openapi"))


@require_http_methods(["GET", "HEAD", "POST"])
@sensitive_post_parameters("key")
def explore(request: HttpRequest, name: str) -> HttpResponse:
    """Show the form of an endpoint for readers without scripts. The key is used once and is not sent back."""
    found = explorer.explorers().get(name)
    if found is None:
        raise Http404
    initial = request.GET.dict() or found.initial_of(personalization.of(request.user))
    form = explorer.RequestForm(found, request.POST if request.method == "POST" else None, initial=initial)
    values, answer = request.POST.dict() or initial, None
    if form.is_valid():
        values = form.texts()
        answer = explorer.send(found, values, request.POST.get("key", "").strip(), like=request)
    curl = found.curl(values, explorer.encoded)
    context = {"explorer": found, "page": found.page, "form": form, "curl": curl, "answer": answer}
    response = render(request, "docs/explorer.html", {**context, "groups": contents.groups()})
    patch_cache_control(response, private=True, no_store=True)
    return response


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def sign_in_button(request: HttpRequest, name: str) -> HttpResponse:
    """Return a picture for the login pages of other sites."""
    try:
        picture = sign_in_buttons.picture(name)
    except KeyError:
        raise Http404 from None
    response = get_conditional_response(request, etag=picture.etag) or HttpResponse(picture.svg)
    response.headers["Content-Type"] = "image/svg+xml"
    response.headers["ETag"] = picture.etag
    response.headers[content_security.HEADER] = BUTTON_POLICY
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["Access-Control-Allow-Origin"] = "*"
    patch_cache_control(response, public=True, max_age=BUTTONS_CACHED_FOR)
    return response


def _page_of(slug: str) -> contents.Page:
    try:
        return contents.pages()[slug]
    except KeyError:
        raise Http404 from None


def _public(response: HttpResponse) -> HttpResponse:
    patch_cache_control(response, public=True, max_age=CACHED_FOR)
    return response


def _cached(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    patch_vary_headers(response, ["Cookie"])
    if request.user.is_authenticated:
        patch_cache_control(response, private=True, no_store=True)
        return response
    return _public(response)


# The changelog as an Atom feed. Page and feed have one source: a heading `## DATE: TITLE` for each entry.
CHANGELOG = "changelog"
_ENTRY = re.compile(r"^## ((\d{4}-\d\d-\d\d): ([^\n]+))\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Change:
    """An entry. `text`: its Markdown; links lead to whole addresses, as a feed is read elsewhere."""

    anchor: str
    day: datetime
    title: str
    text: str


@functools.cache
def changes() -> tuple[Change, ...]:
    """Return the newest changes first, as on the page."""
    found = []
    for heading, day, title, text in _ENTRY.findall(expansion.expanded(contents.pages()[CHANGELOG])):
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
        found.append(Change(anchor_of(heading), at, title, text.replace("](/", f"]({settings.BASE_URL}/")))
    return tuple(found)


class ChangesFeed(Feed[Change, None]):
    feed_type = Atom1Feed

    def title(self) -> str:
        return f"{settings.SITE_NAME}: changelog of the API"

    def link(self) -> str:
        return f"{settings.BASE_URL}{contents.pages()[CHANGELOG].path}"

    def feed_url(self) -> str:
        return f"{self.link()}.atom"

    def items(self) -> tuple[Change, ...]:
        return changes()

    def item_title(self, item: Change) -> str:
        return item.title

    def item_description(self, item: Change) -> str:
        return rendering.html_of(item.text)

    def item_link(self, item: Change) -> str:
        return f"{self.link()}#{item.anchor}"

    def item_updateddate(self, item: Change) -> datetime:
        return item.day

    item_pubdate = item_updateddate
