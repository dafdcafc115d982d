"""What staff see of a report: what was reported, who reported it, and what is known of the person it is about."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Case, F, Q, QuerySet, When

from accounts.models import User
from dashboard.staff import queries
from dashboard.staff.queries import Event
from imagehost.folders import albums
from imagehost.models import Album, File
from lookup.models import Asset, Comment, Decision, Profile, Report
from lookup.social import cases

OPEN_FIRST = (F("decided_at").desc(nulls_first=True), "created_at", "pk")
SHOWN_REPORTS = 20
SHOWN_FILES = 12
MOST_FILES = 200  # that are counted
SHOWN_PICTURES = 60
PLACES = {"avatar": "Avatar", "banner": "Banner", "metadata_banner": "Picture in messengers"}


@dataclass(frozen=True)
class Picture:
    """A picture or film that a person uploaded. `place`: of the main profile, where that shows it outside of lists."""

    asset: Asset
    place: str


@dataclass(frozen=True)
class ReportRecord:
    """A report for staff. `together`: all reports about the thing, the open ones first. `earlier`: reports about other
    things of the accused. Of what was reported, what exists: `profile` with its `pictures`, `comment` with the one that
    it replies to, `files`, of which there are `file_count`."""

    report: Report
    accused: User
    together: list[Report]
    earlier: list[Report]
    events: list[Event]
    profile: Profile | None = None
    pictures: list[Picture] = field(default_factory=list)
    comment: Comment | None = None
    files: list[File] = field(default_factory=list)
    file_count: int = 0


def of_report(report: Report, *, staff: User, has_events: bool) -> ReportRecord:
    """Return the record as `staff` see it. 3 queries, 1 for the events, and 1 to 3 of the kind."""
    accused, same = cases.accused_of(report), cases.same_thing(report)
    others = cases.against(accused, staff=staff).exclude(pk__in=same.values("pk"))
    people = ("reporter", "decided_by")
    record = ReportRecord(
        report=report,
        accused=accused,
        together=list(same.select_related(*people).order_by(*OPEN_FIRST)[:SHOWN_REPORTS]),
        earlier=list(others.select_related(*people).order_by("-created_at", "-pk")[:SHOWN_REPORTS]),
        events=queries.events_of(accused) if has_events else [],
    )
    if report.comment_text:
        comment = Comment.objects.filter(pk=report.comment_id).select_related("parent__author").first()
        return replace(record, comment=comment)
    if report.kind == Report.Kind.PROFILE:
        profile = profile_called(report.name, report.user)
        return replace(record, profile=profile, pictures=pictures_of(report.user))
    files = files_of(report)
    return replace(record, files=files[:SHOWN_FILES], file_count=len(files))


@dataclass(frozen=True)
class DecisionRecord:
    """What a decision hides, as far as it exists: `files` of which there are `file_count`. `events`: of the owner."""

    files: list[File]
    file_count: int
    events: list[Event]


def of_decision(decision: Decision, *, has_events: bool) -> DecisionRecord:
    """Return the record. At most 3 queries."""
    files = files_of(decision)
    events = queries.events_of(decision.user) if has_events else []
    return DecisionRecord(files[:SHOWN_FILES], len(files), events)


def decisions_seen_by(staff: User) -> QuerySet[Decision]:
    """Return the decisions without those about something of `staff`; superusers see all."""
    found = Decision.objects.select_related("user", "decided_by", "answered_by")
    return found if staff.is_superuser else found.exclude(user=staff)


def appeals(staff: User) -> QuerySet[Decision]:
    """Return the decisions whose appeal waits, the oldest first."""
    waiting = decisions_seen_by(staff).filter(appealed_at__isnull=False, answered_at=None)
    return waiting.order_by("appealed_at", "pk")


def profile_called(name: str, user: User) -> Profile | None:
    """Return the profile of `user` that the page `name` shows. 1 query."""
    own = Profile.objects.filter(user=user).select_related("user", "alias__name")
    found = {profile.is_main or profile.alias.name_id: profile for profile in own.exclude(is_main=False, alias=None)}
    return found.get(name.upper()) or found.get(True)


def pictures_of(user: User) -> list[Picture]:
    """Return the pictures and films that the person uploaded for their profiles: avatar and banner first, then the
    newest. 2 queries."""
    columns = Profile.objects.filter(user=user, is_main=True).values(*PLACES).first() or {}
    places = {pk: PLACES[name] for name, pk in columns.items() if pk}
    seen = Asset.objects.filter(Q(mime__startswith="image/") | Q(mime__startswith="video/"), owner=user)
    rows = seen.order_by(Case(When(pk__in=[*places], then=0), default=1), "-created_at", "-pk")[:SHOWN_PICTURES]
    return [Picture(asset, places.get(asset.pk, "")) for asset in rows]


def files_of(report: Report | Decision) -> list[File]:
    """Return the file that this is about, or the files of the album or folder, quarantined ones too. At most 2
    queries."""
    found = File.objects.kept().filter(owner=report.user_id)
    if report.kind == Report.Kind.FILE:
        return list(found.filter(pk=report.thing))
    if report.kind == Report.Kind.FOLDER:
        return list(found.filter(folder=report.thing).newest_first()[:MOST_FILES])
    album = Album.objects.filter(pk=report.thing).first()
    return albums.kept_in(album) if album else []


def is_named(file: File, found: QuerySet[Report] | QuerySet[Decision]) -> bool:
    """Return whether one of these reports or decisions is about the file, or about a folder or an album that holds it.
    At most 2 queries."""
    of_owner: QuerySet[Any] = found.filter(user=file.owner_id)
    about = Q(kind=Report.Kind.FILE, thing=str(file.pk))
    if file.folder_id is not None:
        about |= Q(kind=Report.Kind.FOLDER, thing=file.folder_id)
    if of_owner.filter(about).exists():
        return True
    listed = Album.objects.filter(owner=file.owner_id, pk__in=of_owner.filter(kind=Report.Kind.ALBUM).values("thing"))
    return any(file.pk.hex in album.file_ids for album in listed)
