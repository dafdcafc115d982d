"""GET /{username}: the public profile page; its style sheet; its links, which count their clicks; the link
of the profile, to copy, to send and to scan.

The page links to an address of ours that counts the click and redirects, which needs no JavaScript. The target's host
is shown next to the title, and the whole URL in the tooltip.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import iri_to_uri
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from accounts.models import User
from infrastructure.requests import content_security, kept_html
from lookup import visits
from lookup.errors import ProfilePrivate, UserNotFound
from lookup.page import colors, context, icons, profile_card, svg_card, url_policy
from lookup.page.context import Elsewhere, ProfilePage
from lookup.page.forms import CommentForm

# Every visit must reach us to be counted, and signed-in visitors get a page of their own.
CACHING = "private, no-cache"
QR_CACHING = "public, max-age=3600"  # a profile that goes private keeps its picture for an hour: only the link
STYLE_CACHING = "public, max-age=31536000, immutable"

View = Callable[..., HttpResponse]


def refusing(view: View) -> View:
    """Answer 404 for unknown and banned users alike, and the page of a private profile, with 404 too."""

    @functools.wraps(view)
    def answered(request: HttpRequest, **names: str) -> HttpResponse:
        try:
            return view(request, **names)
        except UserNotFound:
            raise Http404 from None
        except ProfilePrivate:
            return with_caching(render(request, "lookup/private.html", status=404))

    return answered


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
@refusing
def show(request: HttpRequest, name: str) -> HttpResponse:
    page = context.find(name, timezone.now())
    if isinstance(page, Elsewhere):
        return with_caching(HttpResponseRedirect(reverse("profile_page", args=[page.username])))
    visits.count_view(request, user_id=page.user.id, profile_id=page.user.profile_id or "")
    known: dict[str, object] = {"page": page, "presence": presence_of(page)}
    if isinstance(request.user, User):
        known["viewer"] = context.viewer_of(page, request.user, request.path, has_vote=page.has_votes)
        known["comment_form"] = CommentForm()
    shown = (page.digest, page.comments_digest, page.has_more_comments, page.figures, page.user.comments)
    key = kept_html.digest("profile", *shown, known["presence"], request.path)
    response = kept_html.answer(request, key, lambda: render(request, "lookup/profile_page.html", known))
    response.headers[content_security.HEADER] = policy(page)  # of a 304 too: it renews what the browser has kept
    return with_caching(response)


def presence_of(page: ProfilePage) -> str:
    """Return the card of live presence, which belongs to an app that this one does not know."""
    return render_to_string("lookup/presence.html", {"page": page})


@require_safe
def without_slash(request: HttpRequest, name: str) -> HttpResponse:
    return HttpResponsePermanentRedirect(reverse("profile_page", args=[name]))


@require_safe
@refusing
def follow(request: HttpRequest, name: str, link_id: str) -> HttpResponse:
    """Redirect to the user's own address, http, https or mailto: Django's redirect classes refuse some of these."""
    user, url = context.link_of(name, link_id, timezone.now())
    visits.count_click(request, user_id=user.id, link_id=link_id)
    headers = {"Location": iri_to_uri(url), "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
    return HttpResponse(status=302, headers={**headers, "X-Robots-Tag": "noindex, nofollow"})


@require_safe
def style(request: HttpRequest) -> HttpResponse:
    """Return the owner's colors, which the address holds."""
    return _style(colors.sheet(request.GET.dict()))


@require_safe
def themes_style(request: HttpRequest) -> HttpResponse:
    """Return the colors of all themes, for their miniatures."""
    return _style(colors.themes_sheet())


def _style(sheet: str) -> HttpResponse:
    headers = {"Cache-Control": STYLE_CACHING}
    return HttpResponse(sheet, content_type="text/css; charset=utf-8", headers=headers)


@require_safe
@refusing
def share(request: HttpRequest, name: str) -> HttpResponse:
    """Show the link of the profile, and the codes that embed its cards. 1 query."""
    page = context.find(name, timezone.now(), number=None)
    if isinstance(page, Elsewhere):
        return with_caching(HttpResponseRedirect(reverse("profile_share", args=[page.username])))
    look = svg_card.look_of(request.GET.dict())
    looks = {"look": look, "themes": svg_card.THEMES, "sizes": svg_card.SIZES}
    known = {"page": page, "offers": profile_card.offers(page, look), **looks}
    return with_caching(render(request, "lookup/share.html", known))


@require_safe
@refusing
def qr_code(request: HttpRequest, name: str) -> HttpResponse:
    """Return the link of the profile as a picture. 1 query."""
    page = context.find(name, timezone.now(), number=None)
    if isinstance(page, Elsewhere):
        return HttpResponseRedirect(reverse("profile_qr", args=[page.username]))
    response = HttpResponse(icons.qr_code(page.head.canonical), content_type="image/svg+xml")
    response.headers["Cache-Control"] = QR_CACHING
    return response


def with_caching(response: HttpResponse) -> HttpResponse:
    response.headers["Cache-Control"] = CACHING
    return response


def policy(page: ProfilePage, *, is_framed: bool = False) -> str:
    """Allow uploads and assets; and, where the owner mirrors it, the picture on the chat platform.

    `is_framed`: a page of ours may show it in a frame, as a preview.
    """
    media = url_policy.media_sources()
    chat = (content_security.origin_of(settings.CHAT_CDN_URL),) if page.is_mirrored else ()
    return content_security.header(images=(*media, *chat), media=media, is_framed=is_framed)
