"""Grow the population to a number of members, some hundred at a time, in steps that can be interrupted and resumed.

The number of statements of a batch does not depend on its size."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F

from accounts.models import LinkedAccount, Name, User
from accounts.models.names import RESERVED_KEYS, NameKind
from accounts.models.users import UidCounter
from demo.population import awards, page_sections, people, profile_pages, talk
from demo.population.people import LATEST, Member
from demo.population.profile_pages import Page, Rows
from demo.population.talk import Talk
from infrastructure import worker_processes
from infrastructure.databases import bulk
from infrastructure.worker_processes import Turns
from lookup.documents import documents, queries
from lookup.editing import badge_tiers
from lookup.models import Alias, Badge, Profile, ProfileDocument, UserDocument
from lookup.serializers.rows import WholeProfile
from lookup.shapes.sections import SectionType

BATCH = 500
Badges = dict[str, Badge]


@dataclass(frozen=True)
class Progress:
    """Of `users`, `done` exist; `made` of them are new."""

    users: int
    done: int
    made: int


def prepare() -> None:
    """Fill the catalogues: badges, games, anime, media, music."""
    badge_tiers.load_missing()
    page_sections.fill_catalogues()


def grow(
    *,
    users: int,
    now: datetime,
    seed: int = 1,
    report: Callable[[Progress], None] | None = None,
    processes: int | None = None,
) -> int:
    """Make the missing ones of the first `users` members of this seed; return their number.

    Each batch is a transaction of its own. `processes` fill batches while the next ones are admitted, and write them in
    their order; without it one for each core, where `worker_processes.may_fork`. The members do not depend on it.
    `report` is called after each batch.
    """
    prepare()
    made, ahead = 0, deque[Batch]()
    processes = (processes or worker_processes.number()) if users > BATCH and worker_processes.may_fork() else 1
    # A first collection takes longer than one batch saves.
    with bulk.rare_collections() if users > BATCH else nullcontext(), _finisher(processes) as finish:
        for first in range(0, users, BATCH):
            numbers = range(first, min(first + BATCH, users))
            batch = admit(seed, numbers, now, after=ahead)
            finish(batch)
            ahead.append(batch)
            made += len(batch.members)
            if len(ahead) > processes:
                ahead.popleft()
            if report is not None:
                report(Progress(users, numbers.stop, made))
    return made


@contextmanager
def _finisher(processes: int) -> Iterator[Callable[[Batch], None]]:
    """Return a function that fills and writes a batch: at once, or in one of several processes, which have finished all
    but the last `processes` batches when it returns, and all of them at the end."""
    badges = awards.catalogue()
    if processes == 1:
        yield lambda batch: _finish(batch, badges)
        return
    turns, pending, place = Turns(), deque[Future[None]](), 0

    def finish(batch: Batch) -> None:
        nonlocal place
        pending.append(pool.submit(_finish_in_turn, batch, badges, place))
        place += 1
        if len(pending) > processes:
            pending.popleft().result()

    with worker_processes.pool(processes, turns) as pool:
        yield finish
        while pending:
            pending.popleft().result()


def _finish(batch: Batch, badges: Badges) -> None:
    if batch.members:
        fill(batch, badges)
        write(batch)


def _finish_in_turn(batch: Batch, badges: Badges, place: int) -> None:
    """Fill and write a batch in another process, after earlier batches, whose members it names."""
    with worker_processes.turn(place) as wait:
        if batch.members:
            fill(batch, badges)
        wait()
        if batch.members:
            write(batch)


# How much members make of their profiles.
BARE, LIGHT, DECORATED, FULL = range(4)
LEVELS = ((BARE, 0.38), (LIGHT, 0.40), (DECORATED, 0.17), (FULL, 0.05))
OFTEN_SEEN = 2000  # views: such a profile has more on it


@dataclass
class Made:
    member: Member
    page: Page
    talk: Talk


@dataclass
class Batch:
    """Members with all of their rows, which are still to be written.

    `present`: the members of earlier unwritten batches, by id, and whether their accounts are active.
    """

    members: Sequence[Member] = ()
    present: dict[str, bool] = field(default_factory=dict)
    rows: Rows = field(default_factory=Rows)


def admit(seed: int, numbers: Sequence[int], now: datetime, *, after: Sequence[Batch] = ()) -> Batch:
    """Return the missing members, with uids, names and linked accounts. `after`: the batches before that may not have
    been written yet; the next batch is admitted after this one.

    Every table is read once for any number of members: about 6 queries.
    """
    ids = {number: people.user_id(seed, number) for number in numbers}
    there = set(User.objects.filter(pk__in=ids.values()).values_list("pk", flat=True))
    batch = Batch([people.member(seed, number, now) for number in numbers if ids[number] not in there])
    earlier = [member for one in after for member in one.members]
    batch.present = {member.user.pk: member.user.is_active for member in (*earlier, *batch.members)}
    if batch.members:
        _name_members(batch.members, earlier)
        for member in batch.members:
            member.level = min(FULL, member.rng.weighted(LEVELS) + (member.views >= OFTEN_SEEN))
            member.linked = list(people.linked_accounts(member))
        _drop_taken_accounts(batch.members, earlier)
    return batch


def fill(batch: Batch, badges: Mapping[str, Badge]) -> None:
    """Make the rows of a batch that was admitted. At most 5 queries."""
    rows = batch.rows
    made = [_fill(member, rows) for member in batch.members]
    present = _present(made, batch)
    counters = {}
    for one in made:
        one.talk.leave_out_all_but(present)
        rows.extend(one.talk.rows())
        counters[one.member.user.pk] = {"views": one.member.views, **one.talk.count(present)}
        _reward(one, badges, counters[one.member.user.pk])
    _add_documents(rows, counters)


@transaction.atomic
def write(batch: Batch) -> None:
    """Write every table once. PostgreSQL need not sync each batch: after a crash `grow` makes what is missing."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL synchronous_commit = off")
    batch.rows.insert()


def _name_members(members: Sequence[Member], earlier: Sequence[Member]) -> None:
    """Give each member a uid and the first free one of their wanted names."""
    taken = set(Name.objects.filter(key__in=people.wanted_keys(members)).values_list("key", flat=True))
    taken.update(RESERVED_KEYS, (name.upper() for one in earlier for name in (one.user.username, *one.aliases)))
    with transaction.atomic():
        uid = UidCounter.take()
        UidCounter.objects.update(next_uid=F("next_uid") + len(members) - 1)
    for member in members:
        member.user.uid, member.user.username = uid, people.choose(member.names, taken)
        uid += 1
        if member.aliases:
            member.aliases = [people.choose(member.aliases, taken)]


def _name(user: User, name: str, kind: NameKind) -> Name:
    return Name(key=name.upper(), name=name, user=user, kind=kind)


def _fill(member: Member, rows: Rows) -> Made:
    user, level = member.user, member.level
    rows.add(user, _name(user, user.username, NameKind.USERNAME), *member.linked)
    profile = profile_pages.new_profile(member, user.username, is_main=True)
    rows.add(profile)
    page = Page(profile, member.user.username, member.rng, rows)
    if level >= LIGHT:
        profile_pages.write_texts(page)
        profile_pages.add_links(page, 0, 3 + 2 * level)
    if level >= DECORATED:
        _decorate(page, level)
    for name in member.aliases:
        _add_alias(member, name, rows)
    return Made(member, page, talk.about(member))


def _decorate(page: Page, level: int) -> None:
    rng, is_full = page.rng, level == FULL
    profile_pages.decorate(page, share=0.6 if is_full else 0.25)
    widgets = profile_pages.add_widgets(page, 3) if rng.chance(0.9 if is_full else 0.3) else []
    projects = profile_pages.add_projects(page, 1, 5) if rng.chance(0.9 if is_full else 0.3) else []
    if rng.chance(0.9 if is_full else 0.5):
        profile_pages.add_audios(page, 3)
    if rng.chance(0.9 if is_full else 0.6):
        profile_pages.add_backgrounds(page, 3)
    types = rng.some(list(SectionType), 4, 9) if is_full else rng.some(list(SectionType), 1, 3)
    if projects and SectionType.PROJECTS not in types:
        types.append(SectionType.PROJECTS)
    page_sections.add_sections(page, types, widgets=widgets, projects=projects)
    if rng.chance(0.2):
        page_sections.add_pictures(page, None, rng.randint(1, 3))


def _add_alias(member: Member, name: str, rows: Rows) -> None:
    """Add an alias: every fourth shows a small profile of its own, all other ones lead to the username."""
    rng, profile = member.rng, None
    if rng.chance(0.25):
        profile = profile_pages.new_profile(member, name, is_main=False)
        rows.add(profile)
        page = Page(profile, name, rng, rows)
        profile_pages.write_texts(page)
        profile_pages.add_links(page, 1, 3)
    key = _name(member.user, name, NameKind.ALIAS)
    created_at = rng.timestamp(member.joined_at, LATEST)
    redirects = profile is None and rng.chance(0.8)
    rows.add(key, Alias(name=key, redirects=redirects, profile=profile, created_at=created_at))


def _reward(one: Made, badges: Mapping[str, Badge], counters: Mapping[str, int]) -> None:
    awards.add_badges(one.page, badges, counters)
    if one.member.level == FULL and one.page.rng.chance(0.5):
        awards.add_custom(one.page, order=len(badges))


def _present(made: Sequence[Made], batch: Batch) -> dict[str, bool]:
    """Return the authors, and whether each account is active."""
    others = {author for one in made for author in one.talk.authors()} - set(batch.present)
    return batch.present | dict(User.objects.filter(pk__in=others).values_list("pk", "is_active"))


def _drop_taken_accounts(members: Sequence[Member], earlier: Sequence[Member]) -> None:
    """Drop linked accounts that belong to another user already."""
    wanted = [account for member in members for account in member.linked]
    ids = [account.external_id for account in wanted]
    held = LinkedAccount.objects.filter(kind__in=LinkedAccount.Kind.values, external_id__in=ids)  # by the index of both
    taken: set[tuple[str, str]] = set(held.values_list("kind", "external_id"))
    taken.update((account.kind, account.external_id) for member in earlier for account in member.linked)
    for member in members:
        member.linked = [one for one in member.linked if (one.kind, one.external_id) not in taken]
        taken.update((one.kind, one.external_id) for one in member.linked)


def _add_documents(rows: Rows, counters: Mapping[str, Mapping[str, int]]) -> None:
    """Render the documents from the new rows; a later rendering has an equal result."""
    for one in _whole(rows):
        user = one.profile.user
        rows.add(bulk.build(ProfileDocument, profile_id=one.profile.pk, user_id=user.pk, **documents.rendered(one)))
        if one.profile.is_main:
            columns = {**documents.user_columns(one), **counters[user.pk]}
            rows.add(bulk.build(UserDocument, user_id=user.pk, uid=user.uid, profile_id=one.profile.pk, **columns))


def _whole(rows: Rows) -> Collection[WholeProfile]:
    """Return the profiles with all their rows, without reading them from the database."""
    aliases: dict[str, list[Alias]] = defaultdict(list)
    for alias in sorted(rows.of(Alias), key=lambda alias: (alias.created_at, alias.pk)):
        aliases[alias.name.user_id].append(alias)
    linked = {(account.user_id, account.kind): account for account in rows.of(LinkedAccount)}
    found = {profile.pk: queries.begun(profile, aliases[profile.user_id], linked) for profile in rows.of(Profile)}
    queries.fill(found, *(rows.of(model) for model in queries.LISTED))
    return found.values()
