"""Staff take a file, an album or a folder down: visitors get 451, the owner a letter, the words and one appeal."""

from __future__ import annotations

import contextlib
import json
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import bans, users
from accounts.models import AuditEvent, User
from dashboard.account import queries as account_queries
from imagehost import moderation
from imagehost.folders import albums
from imagehost.models import Album, File
from imagehost.moderation import Row
from imagehost.storing import files
from lookup.models import Decision, Report
from lookup.social import decisions
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.factories.lookup import ReportFactory
from tests.imagehost.public_pages import PASSWORD, unlocked
from tests.imagehost.things import KINDS, MODERATOR, act, browser_of, made, member, path_of, send
from tests.lookup.profile_pages import text
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db(transaction=True)  # objects move after the commit
WORDS = "It sells lamps."


@pytest.fixture
def ada(db: None) -> User:
    return UserFactory(username="Ada", email="ada@example.org")


@pytest.fixture
def staff(db: None) -> User:
    return member(*MODERATOR)


@pytest.fixture
def other(db: None) -> User:
    return member(*MODERATOR)


def taken_down(kind: str, owner: User, by: User, reason: str = "SPAM") -> tuple[Row, Decision]:
    row = made(kind, owner)
    moderation.take_down(row=row, by=by, reason=WORDS, kind=Report.Reason(reason))
    return row, Decision.objects.get()


def page(decision: Decision) -> str:
    return f"/dashboard/imagehost/decisions/{decision.pk}/"


def appeal(client: Client, decision: Decision, words: str = "I only own one lamp.") -> Any:
    """Any: the test client's answer."""
    return client.post(page(decision), {"text": words})


def message(client: Client, path: str) -> str:
    return text(page_of(client.get(path)).xpath("//div[@class='messages']")[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_leads_to_451_and_a_letter(kind: str, ada: User, staff: User, mailoutbox: list[EmailMessage]) -> None:
    row, noun = made(kind, ada), kind.lower()
    for reporter in (UserFactory(username="Eve"), UserFactory()):
        send(browser_of(reporter), row)
    report = Report.objects.earliest("pk")
    listed = browser_of(staff).get(f"/admin/lookup/report/{report.pk}/change/")
    assert page_of(listed).xpath(f"//a[.='{path_of(row)}']/@href") == [path_of(row)]
    act(browser_of(staff), report, "take_down")
    assert set(Report.objects.values_list("outcome", "decided_by")) == {("TAKEN_DOWN", staff.pk)}
    decision = Decision.objects.get()
    assert (decision.user, decision.reason, decision.words, decision.decided_by) == (ada, "SPAM", WORDS, staff)
    answer = Client().get(path_of(row))
    assert (answer.status_code, problems_of(answer), answer.headers["Cache-Control"]) == (451, [], "no-store")
    assert answer.headers["Link"] == '<http://127.0.0.1:8000>; rel="blocked-by"'
    shown = text(page_of(answer).xpath("//main")[0])
    assert f"This {noun} was taken down Reason: Spam or advertising" in shown
    assert WORDS not in shown
    (letter,) = mailoutbox
    assert (letter.to, letter.subject) == (["ada@example.org"], f"Hearth: Your {noun} was taken down")
    for part in ("Reason: Spam or advertising", WORDS, page(decision)):
        assert part in letter.body
    assert "Eve" not in letter.body


@pytest.mark.parametrize("kind", KINDS)
def test_an_appeal_that_is_granted_shows_it_again(
    kind: str, ada: User, staff: User, other: User, mailoutbox: list[EmailMessage]
) -> None:
    (row, decision), noun, owner = taken_down(kind, ada, staff), kind.lower(), browser_of(ada)
    sent = appeal(owner, decision)
    assert (sent.status_code, sent.headers["Location"]) == (302, page(decision))
    assert message(owner, page(decision)) == "Appeal sent. Another member of staff will answer it."
    queue = browser_of(other).get("/admin/lookup/decision/")
    assert list(queue.context["cl"].result_list) == [decision]
    act(browser_of(other), decision, "grant", "You are right.")
    decision.refresh_from_db()
    assert (decision.is_granted, decision.answer, decision.answered_by) == (True, "You are right.", other)
    assert decision.lifted_at is not None
    assert Client().get(path_of(row)).status_code == 200
    assert mailoutbox[1].subject == f"Hearth: Your {noun} is no longer taken down"
    assert "You are right." in mailoutbox[1].body
    assert list(AuditEvent.objects.order_by("pk").values_list("verb", "actor")) == [
        (f"{noun}:quarantined", staff.pk),
        ("appeal:sent", ada.pk),
        (f"{noun}:restored", other.pk),
        ("appeal:granted", other.pk),
    ]


def statuses(client: Client, row: Row) -> list[int]:
    """Of the public page, of the form of reports, and of a file itself."""
    paths = [path_of(row), f"{path_of(row)}/report", *([f"/media/{row.file_name}"] if isinstance(row, File) else [])]
    return [client.get(path).status_code for path in paths]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("who", ["anonymous", "visitor", "owner", "staff", "moderator", "banned"])
def test_who_gets_what_of_something_that_is_taken_down(kind: str, who: str, ada: User, staff: User) -> None:
    row, decision = taken_down(kind, ada, staff)
    people = {"anonymous": None, "visitor": UserFactory(), "owner": ada, "staff": member(), "moderator": staff}
    person = people.get(who) or (None if who == "anonymous" else UserFactory())
    client = browser_of(person)
    if who == "banned" and person is not None:
        bans.ban(user=person, by=None, reason="x")
    is_shown = kind == "FOLDER" and who == "owner"  # as a private folder
    form = 302 if person is None or who == "banned" or is_shown else 404
    assert statuses(client, row) == [200 if is_shown else 451, form, *([451] if kind == "FILE" else [])]
    links = page_of(client.get(path_of(row))).xpath("//a[.='Read the decision']/@href")
    assert links == ([page(decision)] if who == "owner" and not is_shown else [])
    asked = client.get(page(decision)).status_code
    assert asked == (200 if who == "owner" else 302 if form == 302 else 404)


@pytest.mark.parametrize("delivery", ["direct", "accel", "redirect"])
@pytest.mark.parametrize(
    ("reason", "words"), [("SEXUAL", "Sexual content"), ("OTHER", "Another breach of the terms"), (None, None)]
)
def test_the_file_itself_says_the_kind_of_reason(
    delivery: str, reason: str | None, words: str | None, ada: User, staff: User, settings: Any
) -> None:
    settings.FILE_DELIVERY = delivery
    row, _ = taken_down("FILE", ada, staff, reason or "OTHER")
    assert isinstance(row, File)
    if reason is None:  # of an earlier release
        Decision.objects.all().delete()
    with CaptureQueriesContext(connection) as captured:
        answer = Client().get(f"/media/{row.file_name}")
    assert (answer.status_code, len(captured)) == (451, 2)
    assert answer.content.decode() == (f"This file was taken down. Reason: {words or 'Another breach of the terms'}.\n")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Link"] == '<http://127.0.0.1:8000>; rel="blocked-by"'
    assert Client().get(f"/media/{row.name}.gif").status_code == 404
    assert Client().get(f"/files/{row.name}/preview.webp").status_code == 404


@pytest.mark.parametrize("kind", KINDS)
def test_the_pages_of_a_decision_cost_the_same_always(kind: str, ada: User, staff: User) -> None:
    row, decision = taken_down(kind, ada, staff)
    for client, path, count in (
        (Client(), path_of(row), 3),  # the thing as visitors see it, as it is taken down, the decision
        (browser_of(ada), page(decision), 4),  # the user, a requested deletion, the decision, the thing
    ):
        client.get(path)
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        assert len(captured) == count, [query["sql"] for query in captured]


def test_451_is_for_what_visitors_saw_before(ada: User, staff: User) -> None:
    private, locked = FolderFactory(owner=ada), FolderFactory(owner=ada, password=PASSWORD)
    file, album = FileFactory(folder=locked), Album.objects.create(owner=ada, title="A")
    for row in (private, file, album):
        moderation.take_down(row=row, by=staff, reason=WORDS)
    assert Client().get(path_of(private)).status_code == 404
    assert Client().get(path_of(file)).status_code == 403  # the folder's password comes first
    assert unlocked(locked.pk).get(path_of(file)).status_code == 451
    albums.reset_link(owner=ada, album_id=album.pk, now=album.created_at)
    assert Client().get(path_of(album)).status_code == 404
    assert Client().get(path_of(Album.objects.get())).status_code == 451
    bans.ban(user=ada, by=None, reason="x")
    for row in (file, Album.objects.get()):
        assert Client().get(path_of(row)).status_code == 404


def test_a_folder_that_is_taken_down_is_no_way_to_its_files(ada: User, staff: User) -> None:
    folder = FolderFactory(owner=ada, is_public=True, name="Lamps")
    file = FileFactory(folder=folder)
    moderation.take_down(row=folder, by=staff, reason=WORDS)
    shown = Client().get(path_of(file), {"in": folder.pk})
    assert (shown.status_code, b"Lamps" in shown.content) == (200, False)
    for part in ("files.zip", f"previews/{file.name}.webp"):
        assert Client().get(f"/folders/{folder.pk}/{part}").status_code == 404


@pytest.mark.parametrize("kind", KINDS)
def test_the_owner_reads_the_decision_on_their_pages(kind: str, ada: User, staff: User) -> None:
    row, decision = taken_down(kind, ada, staff)
    name = row.name if isinstance(row, File) else row.pk
    client, own = browser_of(ada), f"/dashboard/imagehost/{kind.lower()}s/{name}/"
    answer = client.get(own)
    assert problems_of(answer) == []
    shown = text(page_of(answer).xpath("//section[@aria-labelledby='taken-down']")[0])
    for words in ("Spam or advertising", WORDS, "Appeal…"):
        assert words in shown
    assert page_of(answer).xpath("//a[contains(., 'Appeal')]/@href") == [page(decision)]
    asked = client.get(page(decision))
    assert problems_of(asked) == []
    assert page_of(asked).xpath("//textarea/@maxlength") == ["1000"]
    appeal(client, decision)
    shown = text(page_of(client.get(own)).xpath("//section[@aria-labelledby='taken-down']")[0])
    assert "I only own one lamp. Answer Another member of staff has not answered yet." in shown
    assert page_of(client.get(page(decision))).xpath("//textarea") == []


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("", "This field is required."),
        ("x" * 1001, "Write 1 to 1000 characters."),
        ("a\u202eb", "bidirectional override"),
    ],
)
def test_what_is_no_appeal_is_kept_in_the_form(words: str, problem: str, ada: User, staff: User) -> None:
    _, decision = taken_down("FILE", ada, staff)
    answer = appeal(browser_of(ada), decision, words)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert problem in text(page_of(answer).xpath("//main")[0])
    assert page_of(answer).xpath("//textarea")[0].text_content().strip() == words
    decision.refresh_from_db()
    assert decision.appealed_at is None


def test_line_breaks_count_once_in_an_appeal(ada: User, staff: User) -> None:
    _, decision = taken_down("FILE", ada, staff)
    appeal(browser_of(ada), decision, "a\r\n" * 499 + "aa")
    decision.refresh_from_db()
    assert len(decision.appeal) == 1000


def test_there_is_one_appeal_of_each_decision(
    ada: User, staff: User, other: User, mailoutbox: list[EmailMessage]
) -> None:
    row, decision = taken_down("FILE", ada, staff)
    client = browser_of(ada)
    appeal(client, decision)
    again = appeal(client, decision, "Once more")
    assert "You have appealed already." in text(page_of(again).xpath("//main")[0])
    act(browser_of(other), decision, "refuse", "They are lamps.")
    assert (mailoutbox[-1].subject, "They are lamps." in mailoutbox[-1].body) == (
        "Hearth: Your appeal was refused",
        True,
    )
    assert "Refused" in text(page_of(client.get(page(decision))).xpath("//main")[0])
    assert "You have appealed already." in text(page_of(appeal(client, decision)).xpath("//main")[0])
    assert Client().get(path_of(row)).status_code == 451
    for name in ("grant", "refuse"):
        assert "No appeal waits here." in act(browser_of(other), decision, name).content.decode()
    act(browser_of(staff), decision, "lift", "Fine after all.")
    assert Client().get(path_of(row)).status_code == 200
    decision.refresh_from_db()
    assert (decision.is_granted, decision.answer, decision.lifted_at is None) == (False, "They are lamps.", False)
    moderation.take_down(row=File.objects.get(), by=staff, reason="Again")  # another decision, another appeal
    assert appeal(client, Decision.objects.get(lifted_at=None)).status_code == 302


def test_a_decision_that_was_lifted_is_not_appealed(ada: User, staff: User) -> None:
    row, decision = taken_down("FOLDER", ada, staff)
    moderation.restore(row=row, by=staff, reason="Fine")
    assert "was lifted already" in text(page_of(appeal(browser_of(ada), decision)).xpath("//main")[0])
    assert page_of(browser_of(ada).get(page(decision))).xpath("//textarea") == []


def test_who_answers_an_appeal(ada: User, staff: User, other: User) -> None:
    row, decision = taken_down("FILE", ada, staff)
    appeal(browser_of(ada), decision)
    refused = {
        "You made this decision.": staff,
        "You may not take files down": member("view_decision", "decide_report"),
    }
    for words, person in refused.items():
        assert words in act(browser_of(person), decision, "grant").content.decode()
    assert act(browser_of(member("view_decision")), decision, "grant").status_code == 403
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    assert "Only a superuser" in act(browser_of(other), decision, "refuse").content.decode()
    with pytest.raises(PermissionDenied, match="your own appeal"):
        decisions.refuse(decision=decision, by=User.objects.get(pk=ada.pk), reason="x")
    User.objects.filter(pk=staff.pk).update(is_superuser=True)
    act(browser_of(User.objects.get(pk=staff.pk)), decision, "refuse")
    decision.refresh_from_db()
    assert (decision.is_granted, decision.answered_by) == (False, staff)
    assert Client().get(path_of(row)).status_code == 451


def test_taking_down_needs_the_right_and_something_that_exists(ada: User, staff: User) -> None:
    row = made("FILE", ada)
    send(browser_of(UserFactory()), row)
    report = Report.objects.get()
    weak = browser_of(member("view_report", "decide_report"))
    assert "You may not take files down" in act(weak, report, "take_down").content.decode()
    files.delete_all(owner=ada, files=[row] if isinstance(row, File) else [])
    assert (
        "no longer exists. Mark the report as handled." in act(browser_of(staff), report, "take_down").content.decode()
    )
    report.refresh_from_db()
    assert (report.decided_at, Decision.objects.exists()) == (None, False)


@pytest.mark.parametrize("kind", ["PROFILE", "COMMENT"])
def test_a_profile_or_a_comment_is_not_taken_down(kind: str, staff: User) -> None:
    report = ReportFactory(kind=kind)
    shown = act(browser_of(staff), report, "take_down")
    assert (shown.status_code, "about a profile or a comment." in shown.content.decode()) == (200, True)
    with pytest.raises(ValidationError, match=f"A {kind.lower()} cannot be taken down"):
        moderation.take_down_and_close(report=report, by=staff, reason=WORDS)
    report.refresh_from_db()
    assert report.decided_at is None


def test_a_quarantine_without_a_report_reaches_the_owner_too(
    ada: User, staff: User, mailoutbox: list[EmailMessage]
) -> None:
    row, fields = made("FILE", ada), {"reason": WORDS}
    for kind in (row, Album.objects.create(owner=ada, title="Lamps")):
        path = f"/admin/imagehost/{kind._meta.model_name}/act/quarantine/"
        browser = browser_of(member("quarantine_file", "view_file", "view_album"))
        browser.post(path, {"_selected_action": [kind.pk], **fields})
    found = Decision.objects.order_by("pk").values_list("kind", "reason", "words")
    assert list(found) == [("FILE", "OTHER", WORDS), ("ALBUM", "OTHER", WORDS)]
    assert len(mailoutbox) == 2
    moderation.restore(row=File.objects.get(), by=staff, reason="Fine")
    assert Decision.objects.filter(lifted_at=None).count() == 1


def test_the_migrations_name_what_an_earlier_release_wrote(ada: User) -> None:
    file = FileFactory(owner=ada, quarantined_at=timezone.now())
    FileFactory(owner=ada)
    FileFactory(owner=None, state="DELETED", quarantined_at=timezone.now())
    report = ReportFactory(kind="PROFILE")
    Report.objects.create(user=ada, name="Ada", reason="SPAM")
    for app, name, function in (
        ("imagehost", "0004_quarantine_of_albums_and_folders", "name_decisions"),
        ("lookup", "0004_reports_and_appeals", "name_comments"),
    ):
        for _ in range(2):
            getattr(import_module(f"{app}.migrations.{name}"), function)(apps, None)
    decision = Decision.objects.get()
    assert (decision.user, decision.thing, decision.title) == (ada, str(file.pk), file.file_name)
    assert (decision.reason, decision.decided_at, decision.may_be_appealed) == ("OTHER", file.quarantined_at, True)
    assert set(Report.objects.values_list("comment", "kind")) == {(report.comment_id, "COMMENT"), (None, "PROFILE")}


def test_an_appeal_about_a_deleted_file_is_granted_without_it(
    ada: User, staff: User, other: User, mailoutbox: list[EmailMessage]
) -> None:
    row, decision = taken_down("FILE", ada, staff)
    client = browser_of(ada)
    appeal(client, decision)
    assert files.delete_all(owner=ada, files=list(File.objects.filter(pk=row.pk))) == 1
    assert "has been deleted since" in text(page_of(client.get(page(decision))).xpath("//main")[0])
    act(browser_of(other), decision, "grant")
    assert "It was deleted in the meantime" in mailoutbox[-1].body
    decision.refresh_from_db()
    assert (decision.is_granted, decision.lifted_at is None) == (True, False)


def test_nothing_is_appealed_once_it_is_deleted(ada: User, staff: User) -> None:
    row, decision = taken_down("FILE", ada, staff)
    files.delete_all(owner=ada, files=list(File.objects.filter(pk=row.pk)))
    assert "has been deleted, so there is nothing" in text(
        page_of(appeal(browser_of(ada), decision)).xpath("//main")[0]
    )
    assert not Decision.objects.exclude(appealed_at=None).exists()


def test_the_export_has_decisions_and_appeals_and_the_deletion_removes_them(ada: User, staff: User) -> None:
    _, decision = taken_down("FILE", ada, staff)
    appeal(browser_of(ada), decision)
    exported = json.loads(b"".join(account_queries.data_chunks(ada, timezone.now())))
    (found,) = exported["decisions"]
    assert (found["kind"], found["words"], found["appeal"]) == ("FILE", WORDS, "I only own one lamp.")
    assert staff.username not in json.dumps(exported["decisions"])
    users.delete(user=ada, by=None)
    assert not Decision.objects.exists()


THREADS = 6


@pytest.mark.embedded
def test_appeals_at_once_are_one_appeal(ada: User, staff: User) -> None:
    _, decision = taken_down("FOLDER", ada, staff)
    sent = []

    def one(number: int) -> None:
        with contextlib.suppress(ValidationError):
            decisions.appeal(decision=decision, text=f"Text {number}", by=ada)
            sent.append(f"Text {number}")

    together(THREADS, one)
    decision.refresh_from_db()
    assert sent == [decision.appeal]
    assert AuditEvent.objects.filter(verb="appeal:sent").count() == 1


@pytest.mark.embedded
@pytest.mark.parametrize("is_deleted", [False, True])
def test_an_appeal_is_answered_once_whoever_comes_at_once(
    is_deleted: bool, ada: User, staff: User, other: User, mailoutbox: list[EmailMessage]
) -> None:
    """Two grant it, two refuse it, one restores the file, and its owner deletes it or the account."""
    row, decision = taken_down("FILE", ada, staff)
    assert isinstance(row, File)
    decisions.appeal(decision=decision, text="Please", by=ada)
    acts: list[Any] = [
        lambda: moderation.grant(decision=decision, by=other, reason="Yes"),
        lambda: moderation.grant(decision=decision, by=other, reason="Yes"),
        lambda: decisions.refuse(decision=decision, by=other, reason="No"),
        lambda: decisions.refuse(decision=decision, by=other, reason="No"),
        lambda: moderation.restore(row=row, by=staff, reason="Yes"),
        lambda: users.delete(user=ada, by=None) if is_deleted else files.delete(file=row, by=ada),
    ]

    def one(number: int) -> None:
        with contextlib.suppress(ValidationError, ObjectDoesNotExist):
            acts[number]()

    together(len(acts), one)
    answered = AuditEvent.objects.filter(verb__in=["appeal:granted", "appeal:refused"])
    assert answered.count() <= 1
    if is_deleted:
        assert not Decision.objects.exists()
        return
    decision.refresh_from_db()
    assert answered.count() == 1
    is_granted = answered.get().verb == "appeal:granted"
    assert (decision.is_granted, decision.answer) == (is_granted, "Yes" if is_granted else "No")
    assert decision.lifted_at is not None or not is_granted
