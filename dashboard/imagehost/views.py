"""The image host's pages of files: the gallery, uploading, a file's details, set-ups for upload programs."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Concatenate, ParamSpec

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.http import SignedInRequest
from accounts.plans import ALLOWANCES, Allowance, Plan
from dashboard import access, charts
from dashboard.charts import Chart
from dashboard.forms import is_done
from dashboard.imagehost import uploaders
from dashboard.imagehost.forms import LIFETIMES, DetailsForm, FilterForm, LifetimeForm
from imagehost import media, moderation, names
from imagehost.errors import FolderNotFound, InvalidBody, NoFile
from imagehost.folders import albums, listing
from imagehost.models import File, Folder
from imagehost.pages import file_pages
from imagehost.pages.file_pages import Tile
from imagehost.receiving import incoming
from imagehost.receiving.incoming import PageReceiver, Received
from imagehost.receiving.uploads import Uploaded
from imagehost.storing import daily_counts, files, quotas
from imagehost.storing.daily_counts import Counts
from infrastructure.requests import content_security
from infrastructure.requests.errors import ApiError
from lookup.visits.daily_counts import KEPT
from lookup.visits.database_store import days_until

NOTHING_CHOSEN = "Choose at least one file first."

P = ParamSpec("P")
Act = Callable[Concatenate[SignedInRequest, P], HttpResponse]


def act(page: str) -> Callable[[Act[P]], access.Guarded[P]]:
    """Return a view behind login that takes a POST; 404 where its object has been deleted. A GET redirects to `page`,
    as after a login."""

    def decorate(view: Act[P]) -> access.Guarded[P]:
        @functools.wraps(view)
        def checked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            return view(request, *args, **kwargs) if request.method == "POST" else redirect(page)

        return access.signed_in(require_http_methods(["GET", "POST"])(_missing_as_404(checked)))

    return decorate


def form_view(view: Act[P]) -> access.Guarded[P]:
    """Return a view behind login that shows a form and takes it by POST. 404 where its object has been deleted."""
    return access.signed_in(access.form_page(_missing_as_404(view)))


def _missing_as_404(view: Act[P]) -> Act[P]:
    @functools.wraps(view)
    def checked(request: SignedInRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except (ObjectDoesNotExist, FolderNotFound):
            raise Http404 from None

    return checked


def back_url(values: QueryDict) -> str:
    """Return the page in the form's field `back`, if it is one of the image host; otherwise the first page."""
    first = reverse("imagehost_setup")
    page = values.get("back", "")
    is_ours = page.startswith(first) and url_has_allowed_host_and_scheme(page, allowed_hosts=None)
    return page if is_ours else first


def back(request: HttpRequest) -> HttpResponse:
    return redirect(back_url(request.POST))


PAGE_SIZE = 48
DAYS_SHOWN = 30  # of views and downloads
ACCEPTED = ",".join(media.BY_MIME)


@dataclass(frozen=True)
class Storage:
    """The plan, its allowance and the used bytes."""

    plan: Plan
    allowance: Allowance
    used: int

    @property
    def percent(self) -> str:
        """Return a whole number; 0 and 100 only where they are exact."""
        exact = 100 * self.used / self.allowance.max_storage
        if 0 < exact < 1:
            return "Less than 1"
        return str(100 if exact >= 100 else min(99, round(exact)))

    @property
    def is_full(self) -> bool:
        return self.used >= self.allowance.max_storage


class FileCounts:
    """Views and downloads of the file in the last DAYS_SHOWN days, `days` with today first. 1 query."""

    def __init__(self, file: File, now: datetime) -> None:
        days = days_until(now, DAYS_SHOWN)
        found = daily_counts.by_day(file, days[0])
        counts = [found.get(day, Counts()) for day in days]
        self.days = [*zip(days, counts, strict=True)][::-1]
        self.views = sum(each.views for each in counts)
        self.downloads = sum(each.downloads for each in counts)
        series = {"Views": [each.views for each in counts], "Downloads": [each.downloads for each in counts]}
        self.chart: Chart = charts.by_day(series, days)


@access.signed_in
@require_safe
def gallery(request: SignedInRequest) -> HttpResponse:
    """Show files. 4 queries, 2 more with files plus the session's: usage, folders, albums, count, files, their days."""
    plan = request.user.current_plan(timezone.now())
    context = {
        "storage": Storage(plan, ALLOWANCES[plan], quotas.used(request.user.pk)),
        "accepted": ACCEPTED,
        "types": media.LABELS,
        "lifetime": LifetimeForm(),
    }
    return _page(request, "dashboard/imagehost/gallery.html", context)


@access.signed_in
@require_safe
@_missing_as_404
def folder(request: SignedInRequest, folder_id: str) -> HttpResponse:
    """Show a folder with its files. 1 query more than `gallery`: the folder."""
    found = listing.folder(owner_id=request.user.pk, folder_id=folder_id)
    context = {
        "folder": found,
        "url": found.url,
        "in_archive": file_pages.in_archive(found.file_count),
        "decision": moderation.decision_about(found),
    }
    return _page(request, "dashboard/imagehost/folder.html", context, folder=found)


def _page(
    request: SignedInRequest, template: str, context: dict[str, Any], *, folder: Folder | None = None
) -> HttpResponse:
    folders = list(listing.folders(owner_id=request.user.pk))
    filters = FilterForm(request.GET or None, folders=folders, with_folder=folder is None)
    rows = listing.search(owner_id=request.user.pk, filters=filters.filters(folder.pk if folder else None))
    page = Paginator(rows, PAGE_SIZE).get_page(request.GET.get("page"))
    files = list(page)
    totals = daily_counts.totals(files) if files else {}
    shown = {
        "filters": filters,
        "is_filtered": any(request.GET.get(name) for name in filters.fields),
        "folders": folders,
        "albums": list(albums.of(request.user)),
        "lifetimes": [(key, text) for key, (text, _) in LIFETIMES.items()],
        "page": page,
        "tiles": [(tile_of(file), totals.get(file.pk)) for file in files],
        "back": request.get_full_path(),
    }
    response = render(request, template, {**context, **shown})
    images = file_pages.origins_of(files[0]) if files else ()
    response.headers[content_security.HEADER] = content_security.header(images=images, media=images)
    return response


def tile_of(file: File) -> Tile:
    """Return the file's tile; without its picture for a quarantined file, which is not delivered even to its owner."""
    tile = file_pages.tile(file, preview=reverse("file_preview", args=[file.name]))
    return dataclasses.replace(tile, src="", full="") if file.quarantined_at else tile


@form_view
def detail(request: SignedInRequest, name: str) -> HttpResponse:
    """Show the file with its codes, or the decision that took it down, and change its name and caption. 2 queries: the
    file, its days; 1 more with a decision."""
    file = _found(request, name)
    form = DetailsForm(request.POST if request.method == "POST" else None, file=file)

    def change() -> None:
        files.describe(
            owner=request.user,
            file=file,
            name=form.new_name(),
            caption=form.cleaned_data["caption"],
            check=form.check_version,
        )

    if is_done(form, change):
        messages.success(request, "File saved.")
        return redirect("imagehost_file", name)
    context = {
        "file": file,
        "tile": tile_of(file),
        "form": form,
        "lifetimes": [(key, text) for key, (text, _) in LIFETIMES.items()],
        "codes": [] if file.quarantined_at else file_pages.codes_of(file),
        "decision": moderation.decision_about(file),
        "counts": FileCounts(file, timezone.now()),
        "columns": ("Views", "Downloads"),
        "days_kept": KEPT.days,
    }
    response = render(request, "dashboard/imagehost/file.html", context)
    images = file_pages.origins_of(file)
    response.headers[content_security.HEADER] = content_security.header(images=images)
    return response


def _found(request: SignedInRequest, name: str) -> File:
    """Return the user's stored file. 1 query. Raises Http404."""
    found = listing.named(owner_id=request.user.pk, names=[name])
    if not found:
        raise Http404
    return found[0]


@csrf_exempt
@act("imagehost_setup")
def upload(request: SignedInRequest) -> HttpResponse:
    """Upload files of a plain form. Messages on the next page say what became of each."""
    with incoming.from_page(request, request.user.pk) as receiver:
        return _answer_to_the_form(request, receiver)


@csrf_exempt
@access.signed_in
@require_POST
def upload_one(request: SignedInRequest) -> HttpResponse:
    """Upload one file, for the page's script: JSON with its links, or the error as the API says it."""
    with incoming.from_page(request, request.user.pk) as receiver:
        return _answer_to_the_script(request, receiver)


@csrf_protect
def _answer_to_the_form(request: SignedInRequest, receiver: PageReceiver) -> HttpResponse:
    stored, received_files = [], receiver.read()  # this parses the form
    form = LifetimeForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.problem())
        return back(request)
    for received in received_files:
        result = receiver.store(received, lifetime=form.cleaned_data["expires"])
        if isinstance(result, ApiError):
            messages.error(request, f"{_shown(received)}: {result.error}")
        else:
            stored.append(_shown(received))
    if stored:
        messages.success(request, f"{len(stored)} file{pluralize(len(stored))} uploaded: {', '.join(stored)}")
    if receiver.is_too_much:
        messages.error(request, incoming.TOO_MUCH)
    elif not received_files:
        messages.error(request, NOTHING_CHOSEN)
    return back(request)


@csrf_protect
def _answer_to_the_script(request: SignedInRequest, receiver: PageReceiver) -> HttpResponse:
    files = receiver.read()
    form = LifetimeForm(request.POST)
    if not form.is_valid():
        result: Uploaded | ApiError = InvalidBody(form.problem())
    elif len(files) == 1:
        result = receiver.store(files[0], lifetime=form.cleaned_data["expires"])
    else:
        result = NoFile(incoming.TOO_MUCH if receiver.is_too_much else incoming.ONE_FILE)
    if isinstance(result, ApiError):
        return JsonResponse(result.body(), status=result.status, headers=result.headers())
    file = result.file
    folder = file.folder.name if file.folder else None
    return JsonResponse({"name": file.file_name, "url": file.url, "page": file.page_url, "folder": folder})


def _shown(received: Received) -> str:
    return names.shown(received.name, otherwise="A file")


@act("imagehost_setup")
def favorite(request: SignedInRequest, name: str) -> HttpResponse:
    """Mark or unmark a favorite. Idempotent: the button's value is the new state."""
    files.set_favorite(file=_found(request, name), is_favorite=request.POST.get("is_favorite") == "1")
    return back(request)


MOST_KEYS = 50  # that this page lists; the page of all keys has all


@access.signed_in
@require_safe
def uploader_list(request: SignedInRequest) -> HttpResponse:
    keys = uploaders.keys_of(request.user)[:MOST_KEYS]
    return render(request, "dashboard/imagehost/uploaders.html", {"keys": keys, "now": timezone.now()})


@act("imagehost_uploaders")
@access.recently_signed_in_at("imagehost_uploaders")
def download(request: SignedInRequest, kind: str) -> HttpResponse:
    """Send a set-up with a fresh key: a file, or a page that shows it once."""
    if kind not in uploaders.ALL:
        raise Http404
    try:
        made = uploaders.make(owner=request.user, kind=kind, now=timezone.now())
    except ValidationError as refusal:
        messages.error(request, " ".join(refusal.messages))
        return redirect("imagehost_uploaders")
    if not made.uploader.file_name:
        return render(request, "dashboard/imagehost/uploader.html", {"made": made})
    disposition = f'attachment; filename="{made.uploader.file_name}"'
    headers = {"Content-Disposition": disposition, "Content-Type": made.uploader.content_type}
    return HttpResponse(made.text, headers=headers)
