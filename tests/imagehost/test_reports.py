"""Visitors report files, albums and folders from their public pages, in the queue of profiles and comments."""

from __future__ import annotations

import contextlib

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import bans, rate_limits, users
from accounts.models import AuditEvent, User
from imagehost import moderation
from imagehost.models import Album, File, Folder
from imagehost.moderation import Row
from infrastructure import limits
from infrastructure.limits import Limit
from lookup.models import Report
from lookup.social import reports
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import PASSWORD, unlocked
from tests.imagehost.things import KINDS, browser_of, made, member, path_of, send
from tests.lookup.profile_pages import text
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db
TITLES = {"FILE": "lamp.png", "ALBUM": "Lamps", "FOLDER": "Lamps"}


@pytest.fixture
def ada(db: None) -> User:
    return UserFactory(username="Ada")


def message(client: Client, path: str) -> str:
    return text(page_of(client.get(path)).xpath("//div[@class='messages']")[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_thing_is_reported_from_its_page(kind: str, ada: User) -> None:
    row, eve = made(kind, ada), UserFactory()
    client, path = browser_of(eve), path_of(row)
    (link,) = page_of(client.get(path)).xpath(f"//a[.='Report this {kind.lower()}']/@href")
    assert link == f"{path}/report"
    asked = client.get(link)
    assert (problems_of(asked), text(page_of(asked).xpath("//h1")[0])) == (
        [],
        f"Report the {kind.lower()} {TITLES[kind]}",
    )
    answer = send(client, row, "OTHER", text=" It sells\r\nlamps ")
    assert (answer.status_code, answer.headers["Location"]) == (302, path)
    assert message(client, path) == "Report sent. Staff will look at it."
    report = Report.objects.get()
    assert (report.kind, report.thing, report.title, report.path) == (kind, str(row.pk), TITLES[kind], path)
    assert (report.user, report.name, report.reporter, report.text) == (ada, "Ada", eve, "It sells\nlamps")
    assert (report.comment_id, report.comment_text, report.author_id) == (None, "", None)
    event = AuditEvent.objects.get(verb="report:sent")
    assert event.data == {"user": ada.pk, "kind": kind, "thing": str(row.pk)}
    for again in (lambda: send(client, row), lambda: client.get(link)):
        assert again().status_code == 302
        assert message(client, path) == reports.ALREADY
    send(browser_of(UserFactory()), row)
    assert Report.objects.count() == 2


def test_reports_of_the_profile_and_of_each_thing_are_apart(ada: User) -> None:
    client = browser_of(UserFactory())
    rows = [made("FILE", ada), FolderFactory(owner=ada, is_public=True), Album.objects.create(owner=ada, title="A")]
    for row in rows:
        send(client, row)
    client.post("/Ada/report", {"reason": "SPAM", "text": ""})
    assert sorted(Report.objects.values_list("kind", flat=True)) == ["ALBUM", "FILE", "FOLDER", "PROFILE"]


# Who opens the form and who sends it: status, and where an answer leads.
LOGIN = "/accounts/login/?next="
MATRIX = [
    ("anonymous", 302, LOGIN),
    ("banned", 302, LOGIN),
    ("owner", 302, "own"),
    ("visitor", 200, ""),
    ("staff", 200, ""),
    ("moderator", 200, ""),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("who", "status", "place"), MATRIX)
def test_who_may_report(kind: str, who: str, status: int, place: str, ada: User) -> None:
    row = made(kind, ada)
    staff = {"staff": member(), "moderator": member("decide_report", "quarantine_file")}
    person = {"owner": ada, **staff}.get(who) or UserFactory()
    client = browser_of(None if who == "anonymous" else person)
    if who == "banned":
        bans.ban(user=person, by=None, reason="x")
    path = path_of(row)
    answer, sent = client.get(f"{path}/report"), send(client, row)
    assert answer.status_code == status
    assert sent.status_code == 302
    if place == LOGIN:
        assert {answer.headers["Location"], sent.headers["Location"]} == {f"{LOGIN}{path}/report"}
    if place == "own":
        assert {answer.headers["Location"], sent.headers["Location"]} == {path}
        assert f"You cannot report your own {kind.lower()}." in message(client, path)
        assert page_of(client.get(path)).xpath("//a[starts-with(., 'Report')]") == []
    assert Report.objects.exists() == (status == 200)


def test_what_a_visitor_does_not_see_is_404(ada: User) -> None:
    client, owner = browser_of(UserFactory()), UserFactory()
    private = FolderFactory(owner=ada)
    locked = FolderFactory(owner=ada, password=PASSWORD)
    hidden: list[Row] = [private, locked, FileFactory(folder=locked), FileFactory(owner=owner)]
    hidden += [Album.objects.create(owner=owner, title="A"), FolderFactory(owner=owner, is_public=True)]
    bans.ban(user=owner, by=None, reason="x")
    for row in hidden:
        assert (client.get(f"{path_of(row)}/report").status_code, send(client, row).status_code) == (404, 404)
    for path in ("/files/Unknown1", f"/files/albums/{'0' * 32}", "/folders/unknown", "/files/albums"):
        assert client.get(f"{path}/report").status_code == 404
    assert not Report.objects.exists()
    client = unlocked(locked.pk)
    client.force_login(UserFactory())
    client.post(f"/folders/{locked.pk}", {"password": PASSWORD})
    assert client.get(f"/folders/{locked.pk}/report").status_code == 200


def test_the_form_needs_its_token_counts_against_the_limit_and_costs_three_queries(
    ada: User, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    row, eve = made("FILE", ada), UserFactory()
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(eve)
    assert send(strict, row).status_code == 403
    client = browser_of(eve)
    with CaptureQueriesContext(connection) as captured:
        client.get(f"{path_of(row)}/report")
    assert len(captured) == 3  # the user, the file, an open report
    settings.RATE_LIMITS_ENABLED = True  # type: ignore[attr-defined]
    monkeypatch.setattr(rate_limits, "REPORTS", Limit(f"test-things-{ada.pk}", 1, "", window=limits.HOUR))
    assert send(client, row, "").status_code == 200
    answer = send(client, row, text="Kept")
    assert (answer.status_code, 0 < int(answer.headers["Retry-After"]) <= 3600) == (429, True)
    assert page_of(answer).xpath("//textarea")[0].text_content().strip() == "Kept"


@pytest.mark.parametrize("who", ["owner", "reporter"])
def test_a_report_goes_with_the_owner_and_outlives_the_reporter(who: str, ada: User) -> None:
    eve = UserFactory()
    send(browser_of(eve), made("FILE", ada))
    users.delete(user={"owner": ada, "reporter": eve}[who], by=None)
    assert list(Report.objects.values_list("reporter", flat=True)) == ([] if who == "owner" else [None])


THREADS = 6


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", KINDS)
def test_a_double_click_sends_one_report_and_none_stays_open_when_it_is_taken_down(kind: str, ada: User) -> None:
    """Half of the requests are one person's; a member of staff takes the thing down meanwhile."""
    row, eve, staff = made(kind, ada), UserFactory(), member("decide_report", "quarantine_file")
    people = [eve, eve, eve, *UserFactory.create_batch(THREADS - 3)]
    first = moderation.report(row=row, reason="SPAM", text="", by=UserFactory())

    def one(number: int) -> None:
        with contextlib.suppress(ValidationError):
            if number == THREADS:
                moderation.take_down_and_close(report=first, by=staff, reason="x")
            else:
                moderation.report(row=row, reason="SPAM", text="", by=people[number])

    together(THREADS + 1, one)
    assert not Report.objects.filter(decided_at=None).exists()
    assert Report.objects.filter(reporter=eve).count() <= 1
    assert type(row).objects.get(pk=row.pk).quarantined_at is not None


def test_a_thing_that_was_deleted_is_not_reported(ada: User) -> None:
    for row in (made("FILE", ada), FolderFactory(owner=ada, is_public=True)):
        (File if isinstance(row, File) else Folder).objects.filter(pk=row.pk).delete()
        with pytest.raises(ValidationError, match="has been deleted or taken down"):
            moderation.report(row=row, reason="SPAM", text="", by=UserFactory())
    assert not Report.objects.exists()
