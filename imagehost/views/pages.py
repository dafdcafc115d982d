"""The public pages: a file and its preview, its deletion link; a folder, its password, its previews and its archive."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from accounts.http import SignedInRequest
from imagehost import delivery, media, moderation, names
from imagehost.examining.probing import InvalidMedia, ProberFailed
from imagehost.folders import albums, archives, folder_access
from imagehost.folders.archives import Archive, Refused
from imagehost.folders.folder_access import TooManyGuesses, WrongPassword
from imagehost.media import MediaType
from imagehost.models import File, Folder, PreviewState
from imagehost.moderation import Row
from imagehost.pages import album_pages, file_pages
from imagehost.pages.file_pages import Tile
from imagehost.storing import daily_counts, files, previews, storage
from imagehost.storing.storage import ObjectMissing, StorageFailed
from infrastructure.limits import LimitsUnavailable
from infrastructure.requests import content_security

logger = logging.getLogger(__name__)

CACHING = "private, no-cache"  # the owner gets another page than visitors, and its content changes
LOCKED_CACHING = "private, no-store"  # all that needs a folder's password
PREVIEW_SECONDS = 3600  # in caches; not longer: the file may be deleted, or move into a folder with a password


@csrf_exempt  # no cookie decides anything: a POST is 405
@require_safe
def file_page(request: HttpRequest, name: str) -> HttpResponse:
    """Show the page of a file: GET /files/{name}."""
    file = file_pages.find_file(name) or file_pages.find_file(name, is_taken_down=True)
    if file is None:
        raise Http404
    if file.folder is not None and not _may_see(request, file.folder):
        return _password_form(request, file.folder, file_name=file.name)
    if file.quarantined_at:
        return _taken_down(request, file)
    if file_pages.picture_of(file) is None:
        previews.make_for_page(file)
    place = request.GET.get("in", "")
    if place and place == file.folder_id:
        ways = file_pages.ways_in_folder(file)
    else:
        ways = album_pages.ways_in_album(place, file)
    response = render(request, "imagehost/file.html", {"page": file_pages.page_of_file(file, ways)})
    has_password = file.folder is not None and file.folder.is_password_enabled
    response.headers["Cache-Control"] = LOCKED_CACHING if has_password else CACHING
    origins = file_pages.origins_of(file)
    response.headers[content_security.HEADER] = content_security.header(images=origins, media=origins)
    daily_counts.count_view(request, file)
    return response


@csrf_exempt  # as above
@require_safe
def file_preview(request: HttpRequest, name: str, *, is_png: bool = False) -> HttpResponse:
    file = _found_file(name)
    if file.folder is not None and not _may_see(request, file.folder):
        raise Http404
    return _preview(request, file, is_png=is_png)


@csrf_exempt  # see below: the token in the address takes the place of a form's
@require_http_methods(["GET", "HEAD", "POST"])
def delete_file(request: HttpRequest, name: str, token: str) -> HttpResponse:
    """Confirm on GET, delete on POST: a client that unfurls a link does not follow its form.

    The token in the address cannot be guessed and no cookie decides anything, so a forged request gains nothing. The
    form therefore works without cookies, and under `no-referrer`, with which browsers send `Origin: null`.
    """
    file = file_pages.find_file(name)
    is_right = files.is_deletion_token(file or _NO_FILE, token)
    if file is None or not is_right:
        return _unlinked(render(request, "404.html", status=404))
    if request.method != "POST":
        return _unlinked(render(request, "imagehost/delete.html", {"page": file_pages.page_of_file(file)}))
    if not files.delete(file=file, by=None):  # a concurrent request deleted it
        return _unlinked(render(request, "404.html", status=404))
    return _unlinked(render(request, "imagehost/deleted.html"))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete_own_file(request: SignedInRequest, name: str) -> HttpResponse:
    """Delete a file of the signed-in owner, without a token. 404 for unknown files and other users' files."""
    file = file_pages.find_file(name)
    if file is None or file.owner_id != request.user.pk:
        raise Http404
    if request.method != "POST":
        return render(request, "imagehost/delete.html", {"page": file_pages.page_of_file(file), "is_owner": True})
    if not files.delete(file=file, by=request.user):
        raise Http404
    return render(request, "imagehost/deleted.html")


@require_http_methods(["GET", "HEAD", "POST"])
def folder_page(request: HttpRequest, folder_id: str) -> HttpResponse:
    """Show the page of a folder: GET /folders/{id}; POST with the password."""
    folder = file_pages.find_folder(folder_id, viewer=request.user)
    if folder is None:
        return _taken_down(request, file_pages.find_folder_taken_down(folder_id))
    if request.method == "POST":
        return _unlocked(request, folder)
    if not _may_see(request, folder):
        return _password_form(request, folder)
    page = file_pages.page_of_folder(folder, request.GET.get("page", "1"))
    if page is None:
        raise Http404
    response = render(request, "imagehost/folder.html", {"page": page})
    response.headers["Cache-Control"] = LOCKED_CACHING if folder.is_password_enabled else CACHING
    return _with_files(response, page.tiles)


@csrf_exempt  # as for files
@require_safe
def folder_preview(request: HttpRequest, folder_id: str, name: str) -> HttpResponse:
    folder = _found_folder(request, folder_id)
    file = file_pages.file_in(folder, name) if _may_see(request, folder) else None
    if file is None:
        raise Http404
    return _preview(request, file)


@csrf_exempt  # as for files
@require_safe
def album_page(request: HttpRequest, link: str) -> HttpResponse:
    """Show the page of an album: GET /files/albums/{link}."""
    album = albums.find(link)
    if album is None:
        return _taken_down(request, albums.find(link, is_taken_down=True))
    number = request.GET.get("page", "1")
    page = album_pages.page_of_album(album, number, may_see=lambda folder: _may_see(request, folder))
    if page is None:
        raise Http404
    response = render(request, "imagehost/album.html", {"page": page})
    response.headers["Cache-Control"] = LOCKED_CACHING if page.is_private else CACHING
    return _with_files(response, page.tiles)


@csrf_exempt  # as for files
@require_safe
def folder_archive(request: HttpRequest, folder_id: str) -> HttpResponseBase:
    folder = _found_folder(request, folder_id)
    if not _may_see(request, folder):
        return _password_form(request, folder)
    response = StreamingHttpResponse((), content_type=archives.MIME)
    try:
        if request.method != "HEAD":
            archives.count()  # archives must not occupy every thread
            response.streaming_content = Archive(file_pages.archived(folder))
    except Refused as refused:
        text = f"Too many archives are asked for. Please try again in {refused.seconds_left} s.\n"
        headers = {"Retry-After": str(refused.seconds_left), "Cache-Control": LOCKED_CACHING}
        return HttpResponse(text, status=refused.status, content_type="text/plain; charset=utf-8", headers=headers)
    name = names.shown(folder.name, otherwise="folder")
    response.headers["Content-Disposition"] = names.disposition(f"{name}.zip", attachment=True)
    response.headers["Cache-Control"] = LOCKED_CACHING
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers[content_security.HEADER] = delivery.POLICY
    return response


_NO_FILE = File(deletion_hash="0" * 64)  # is compared with a token where the file does not exist


def _found_file(name: str) -> File:
    file = file_pages.find_file(name)
    if file is None:
        raise Http404
    return file


def _found_folder(request: HttpRequest, folder_id: str) -> Folder:
    folder = file_pages.find_folder(folder_id, viewer=request.user)
    if folder is None:
        raise Http404
    return folder


def _taken_down(request: HttpRequest, row: Row | None) -> HttpResponse:
    """Answer 451 with the kind of reason (RFC 7725); Http404 for None. The owner finds the way to the decision."""
    if row is None:
        raise Http404
    decision = moderation.decision_about(row)
    context = {
        "kind": moderation.thing_of(row).kind.label.lower(),
        "reason": moderation.reason_of(decision),
        "decision": decision if row.owner_id == request.user.pk else None,
    }
    response = render(request, "imagehost/taken_down.html", context, status=451)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    response.headers["Link"] = delivery.blocked_by()
    return response


def _with_files(response: HttpResponse, tiles: list[Tile]) -> HttpResponse:
    """Add a policy that lets the files of a list in: its light view plays them."""
    origins = file_pages.origins_of(tiles[0].file) if tiles else ()
    response.headers[content_security.HEADER] = content_security.header(images=origins, media=origins)
    return response


def _unlinked(response: HttpResponse) -> HttpResponse:
    """Add headers that keep the page's secret address out of caches, referrers and search engines."""
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _preview(request: HttpRequest, file: File, *, is_png: bool = False) -> HttpResponse:
    """Answer with the file's preview. Http404 where it has none; 503 while the store or the prober does not answer.

    `is_png`: for messengers that show no WebP.
    """
    if file.preview_state != PreviewState.MADE:
        raise Http404
    type_ = media.PNG if is_png else media.WEBP
    etag = quote_etag(f"{file.pk.hex}-{file.preview_width}x{file.preview_height}{'-png' if is_png else ''}")
    response = get_conditional_response(request, etag=etag) or preview_content(file, type_)
    is_private = file.folder is not None and (file.folder.is_password_enabled or not file.folder.is_public)
    seconds = file.seconds_left(timezone.now(), most=PREVIEW_SECONDS)
    response.headers["Cache-Control"] = LOCKED_CACHING if is_private else f"public, max-age={seconds}"
    if response.status_code == 503:
        response.headers["Cache-Control"] = "no-store"
        return response
    response.headers["ETag"] = etag
    response.headers[content_security.HEADER] = delivery.POLICY
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    response.headers["X-Robots-Tag"] = "noindex"
    return response


def preview_content(file: File, type_: MediaType) -> HttpResponse:
    """Read the whole preview: some ten kilobytes, some hundred as a PNG. Http404 where it is missing; 503 while the
    store or the prober does not answer."""
    try:
        if type_ is media.PNG:
            content = previews.card(file)
        else:
            with storage.bucket().fetched(file.preview_key) as path:
                content = path.read_bytes()
    except (ObjectMissing, FileNotFoundError):
        raise Http404 from None
    except (StorageFailed, InvalidMedia, ProberFailed) as error:
        logger.warning("The preview of %s cannot be read: %r.", file.pk, error)
        return HttpResponse("Please try again.", content_type="text/plain", status=503, headers={"Retry-After": "30"})
    headers = {"Content-Disposition": names.disposition(f"{file.name}.{type_.extension}")}
    return HttpResponse(content, content_type=type_.mime, headers=headers)


@dataclass(frozen=True)
class _Refusal:
    """Why the password did not open the folder. `seconds_left`: until the next guess is checked; 0: at once."""

    text: str
    status: int = 403
    seconds_left: int = 0


def _may_see(request: HttpRequest, folder: Folder) -> bool:
    return folder_access.is_open(folder, viewer=request.user, session=request.session, now=timezone.now())


def _password_form(
    request: HttpRequest, folder: Folder, *, file_name: str = "", refusal: _Refusal | None = None
) -> HttpResponse:
    """Show only the form. `file_name`: of the file whose page follows the right password."""
    context = {"folder_id": folder.pk, "file_name": file_name, "refusal": refusal}
    status = refusal.status if refusal else 403
    response = render(request, "imagehost/folder_locked.html", context, status=status)
    response.headers["Cache-Control"] = LOCKED_CACHING
    response.headers["X-Robots-Tag"] = "noindex"
    if refusal and refusal.seconds_left:
        response.headers["Retry-After"] = str(refusal.seconds_left)
    return response


def _unlocked(request: HttpRequest, folder: Folder) -> HttpResponse:
    """Redirect after the right password to the folder, or to the page of the file in it that was asked for."""
    name, now, refusal = request.POST.get("file", ""), timezone.now(), None
    if not _may_see(request, folder):
        password = request.POST.get("password", "")
        try:
            folder_access.unlock(folder, password, viewer=request.user, session=request.session, now=now)
        except WrongPassword:
            refusal = _Refusal("This is not the password.")
        except TooManyGuesses as refused:
            seconds = refused.seconds_left
            refusal = _Refusal(f"Too many tries. Please try again in {seconds} s.", 429, seconds)
        except LimitsUnavailable:
            logger.exception("The limit store does not answer.")
            refusal = _Refusal("Passwords cannot be checked at the moment. Please try again.", 503, 30)
    if refusal is not None:
        return _password_form(request, folder, file_name=name, refusal=refusal)
    file = file_pages.file_in(folder, name) if name else None
    place = reverse("file_page", args=[file.name]) if file else reverse("folder_page", args=[folder.pk])
    return HttpResponseRedirect(place, status=303, headers={"Cache-Control": LOCKED_CACHING})
