"""Reports: visitors send them, staff decide them, and the owner learns nothing of them; reports at the same time."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import bans, rate_limits, users
from accounts.models import AuditEvent, StaffNotice, User
from infrastructure import limits
from infrastructure.limits import Limit
from lookup.editing import profiles, remedies
from lookup.models import Comment, Report
from lookup.social import comments, feedback, reports
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.lookup import ReportFactory
from tests.lookup.admin_forms import helper, page, superuser
from tests.lookup.profile_pages import text
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together, wait_for_a_blocked_statement

pytestmark = pytest.mark.usefixtures("unlimited")

ALREADY = "You have already reported this. Staff have not decided yet."


@pytest.fixture
def ada(operator: User) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def bob(db: None) -> User:
    return UserFactory(username="Bob", created_at=timezone.now() - timedelta(days=30))


@pytest.fixture
def comment(ada: User, bob: User) -> Comment:
    return comments.write(user=ada, content="Buy lamps", by=bob)


@pytest.fixture
def eve(db: None) -> Client:
    return _client(UserFactory(username="Eve"))


def _client(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def _send(client: Client, path: str, reason: str = "SPAM", text: str = "", **values: str) -> Any:
    """Any: the test client's answer."""
    return client.post(path, {"reason": reason, "text": text, **values})


def _message(client: Client, path: str = "/Ada") -> str:
    return text(page_of(client.get(path)).xpath("//div[@class='messages']")[0])


def _decide(browser: Client, act: str, *chosen: Report) -> Any:
    fields = {"_selected_action": [report.pk for report in chosen], "reason": "Seen"}
    return browser.post(f"{page(Report)}act/{act}/", fields)


def test_a_profile_is_reported_from_its_foot(ada: User, eve: Client) -> None:
    (path,) = page_of(eve.get("/Ada")).xpath("//a[.='Report this profile']/@href")
    response = eve.get(path)
    assert problems_of(response) == []
    assert "Ada" in text(page_of(response).xpath("//h1")[0])
    response = _send(eve, path, "OTHER", " Two\r\nlines ")
    assert (response.status_code, response.headers["Location"]) == (302, "/Ada")
    assert _message(eve) == "Report sent. Staff will look at it."
    report = Report.objects.get()
    assert (report.user, report.name, report.reason, report.text) == (ada, "Ada", "OTHER", "Two\nlines")
    assert (report.comment_id, report.comment_text, report.author_id, report.decided_at) == (None, "", None, None)
    event = AuditEvent.objects.get(verb="report:sent")
    assert (event.reason, event.data) == ("OTHER", {"user": ada.pk, "comment": None})


@pytest.mark.parametrize("is_reply", [False, True])
def test_a_comment_or_reply_is_reported_from_its_menu(
    ada: User, bob: User, comment: Comment, eve: Client, is_reply: bool
) -> None:
    if is_reply:
        comment = comments.write(user=ada, content="A reply", parent=comment, by=bob)
    word = "reply" if is_reply else "comment"
    (path,) = page_of(eve.get("/Ada/comments")).xpath(f"//a[.='Report {word}']/@href")[-1:]
    assert path == f"/Ada/comments/{comment.pk}/report?back=/Ada/comments"
    response = eve.get(path)
    assert problems_of(response) == []
    assert text(page_of(response).xpath("//h1")[0]) == f"Report a {word}"
    assert comment.content in text(page_of(response).xpath("//blockquote")[0])
    assert page_of(response).xpath("//input[@name='back']/@value") == ["/Ada/comments"]
    response = _send(eve, path, back="/Ada/comments")
    assert response.headers["Location"] == f"/Ada/comments#comment-{comment.pk}"
    report = Report.objects.get()
    assert (report.comment, report.comment_text, report.author) == (comment, comment.content, bob)


def test_one_report_of_a_thing_is_open_at_a_time(ada: User, comment: Comment, eve: Client) -> None:
    other = comments.write(user=ada, content="Another", by=comment.author)
    paths = ["/Ada/report", *(f"/Ada/comments/{one.pk}/report" for one in (comment, other))]
    for path in paths:
        _send(eve, path)
        assert _message(eve).startswith("Report sent.")
        for again in (_send, Client.get):
            assert again(eve, path).status_code == 302
            assert _message(eve) == ALREADY
    assert Report.objects.count() == 3
    for one in (comment, other):  # gone, the reports stay, and further ones may come
        comments.delete(comment=one, by=ada)
    assert list(Report.objects.order_by("pk").values_list("comment_text", flat=True)) == ["", "Buy lamps", "Another"]
    for report in Report.objects.all():
        reports.dismiss(report=report, by=UserFactory(is_staff=True), reason="No")
    _send(eve, "/Ada/report")
    assert Report.objects.filter(decided_at=None).count() == 1


@pytest.mark.parametrize(
    ("reason", "words", "problem"),
    [
        ("", "", "Choose a reason."),
        ("SPAM", "x" * 501, "Write at most 500 characters."),
        ("OTHER", "  ", "Describe the problem."),
        ("SPAM", "a\u202eb", "bidirectional override"),
        ("SPAM", "a\0b", "Null characters"),
        ("WRONG", "", "Select a valid choice"),
    ],
)
def test_what_is_no_report_is_kept_in_the_form(ada: User, eve: Client, reason: str, words: str, problem: str) -> None:
    response = _send(eve, "/Ada/report", reason, words)
    assert (response.status_code, problems_of(response)) == (200, [])
    assert problem in text(page_of(response).xpath("//*[contains(@class, 'errorlist')]")[0])
    assert page_of(response).xpath("//textarea")[0].text_content().strip() == words.replace("\0", "\ufffd").strip()
    assert not Report.objects.exists()


def test_who_may_report_what(ada: User, bob: User, comment: Comment, eve: Client) -> None:
    path = f"/Ada/comments/{comment.pk}/report"
    own, author = _client(ada), _client(bob)
    assert "Report this profile" not in text(page_of(own.get("/Ada")))
    assert "Report comment" not in text(page_of(author.get("/Ada")))
    for client, refused, sentence in (
        (own, "/Ada/report", "You cannot report your own profile."),
        (author, path, "You cannot report your own comment."),
    ):
        for ask in (_send, Client.get):
            assert ask(client, refused).status_code == 302
            assert _message(client) == sentence
    assert _send(Client(), path).headers["Location"] == f"/accounts/login/?next={path}"
    assert Client().get("/Ada/report").headers["Location"] == "/accounts/login/?next=/Ada/report"
    feedback.block(blocked=bob, by=ada)
    for client, allowed in ((author, "/Ada/report"), (own, path)):  # blocked users and owners may
        _send(client, allowed)
        assert _message(client).startswith("Report sent.")
    with pytest.raises(PermissionDenied, match="banned"):
        reports.send(
            user=ada, name="Ada", comment=None, reason="SPAM", text="", by=bans.ban(user=bob, by=None, reason="x")
        )


def test_what_is_not_shown_is_not_reported(ada: User, bob: User, comment: Comment, eve: Client) -> None:
    path = f"/Ada/comments/{comment.pk}/report"
    feedback.switch(part="comments", is_on=False, by=ada)
    assert (_send(eve, path).status_code, _message(eve)) == (302, "This comment has been deleted.")
    feedback.switch(part="comments", is_on=True, by=ada)
    assert _send(eve, path.replace("Ada", "Bob")).headers["Location"] == "/Bob"
    assert _message(eve) == "This comment has been deleted."
    bans.ban(user=bob, by=None, reason="x")
    assert (eve.get(path).status_code, _message(eve)) == (302, "This comment has been deleted.")
    assert _send(eve, "/Bob/report").status_code == 404
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    assert _send(eve, "/Ada/report").status_code == 404
    assert not Report.objects.exists()


def test_the_limit_refuses_with_the_text_kept(
    ada: User, bob: User, eve: Client, settings: Any, monkeypatch: Any
) -> None:
    settings.RATE_LIMITS_ENABLED = True
    monkeypatch.setattr(rate_limits, "REPORTS", Limit(f"test-reports-{ada.pk}", 1, "", window=limits.HOUR))
    _send(eve, "/Ada/report")
    response = _send(eve, "/Bob/report", text="Kept")
    assert (response.status_code, 0 < int(response.headers["Retry-After"]) <= 3600) == (429, True)
    assert "Limit reached: 1 an hour." in text(page_of(response))
    assert page_of(response).xpath("//textarea")[0].text_content().strip() == "Kept"


def test_a_refused_report_counts_against_the_limit(ada: User, eve: Client, settings: Any, monkeypatch: Any) -> None:
    settings.RATE_LIMITS_ENABLED = True
    monkeypatch.setattr(rate_limits, "REPORTS", Limit(f"test-refused-{ada.pk}", 1, "", window=limits.HOUR))
    assert _send(eve, "/Ada/report", reason="").status_code == 200
    assert _send(eve, "/Ada/report").status_code == 429
    assert not Report.objects.exists()


def test_a_refused_report_takes_no_lock(ada: User, bob: User) -> None:
    with CaptureQueriesContext(connection) as captured, pytest.raises(ValidationError):
        reports.send(user=ada, name="Ada", comment=None, reason=Report.Reason.OTHER, text=" ", by=bob)
    assert [query["sql"] for query in captured if "SELECT" in query["sql"]] == []


def test_the_form_needs_its_token_and_costs_a_bounded_number_of_queries(comment: Comment, eve: Client) -> None:
    path = f"/Ada/comments/{comment.pk}/report"
    with CaptureQueriesContext(connection) as captured:
        eve.get(path)
    assert len(captured) == 4  # the user, the profile, the comment, an open report
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(UserFactory())
    assert _send(strict, path).status_code == 403


def test_staff_see_open_reports_first_and_never_the_owner(comment: Comment, eve: Client) -> None:
    _send(eve, f"/Ada/comments/{comment.pk}/report", text="Sells lamps")
    done = ReportFactory(decided_at=timezone.now(), outcome="DISMISSED")
    browser, report = superuser(), Report.objects.get(text="Sells lamps")
    for state, listed in (("", [report]), ("open", [report]), ("decided", [done]), ("all", [report, done])):
        found = browser.get(page(Report), {"state": state} if state else {}).context["cl"]
        assert list(found.result_list) == listed
    html = page_of(browser.get(f"{page(Report)}{report.pk}/change/"))
    words = text(html)
    for shown in ("Sells lamps", "Buy lamps", "Bob", "Eve", "Spam or advertising"):
        assert shown in words
    assert html.xpath("//a[.='/Ada']/@href") == ["/Ada"]
    assert html.xpath("//a[.='Ban Bob']/@href") == [f"/admin/accounts/user/act/ban/?id={comment.author_id}"]
    owner = _client(comment.user)
    pages = b"".join(owner.get(path).content for path in ("/Ada", "/Ada/moderation", "/dashboard/"))
    assert b"Eve" not in pages


def test_a_report_is_dismissed_once(comment: Comment, eve: Client) -> None:
    _send(eve, f"/Ada/comments/{comment.pk}/report")
    report, browser = Report.objects.get(), superuser()
    _decide(browser, "dismiss", report)
    for act in ("dismiss", "mark_handled", "delete_comment"):
        _decide(browser, act, report)
        assert "This report is decided already." in browser.get(page(Report)).content.decode()
    report.refresh_from_db()
    assert (report.outcome, report.decided_by is not None) == ("DISMISSED", True)
    event = AuditEvent.objects.get(verb="report:decided")
    assert (event.reason, event.data) == ("Seen", {"outcome": "DISMISSED"})
    assert Comment.objects.exists()


@pytest.mark.parametrize("is_reply", [False, True])
def test_deleting_the_comment_closes_every_open_report_about_it(
    ada: User, bob: User, comment: Comment, eve: Client, is_reply: bool
) -> None:
    if is_reply:
        comment = comments.write(user=ada, content="A reply", parent=comment, by=bob)
    path = f"/Ada/comments/{comment.pk}/report"
    for client in (eve, _client(UserFactory()), _client(ada)):
        _send(client, path)
    _send(eve, "/Ada/report")
    first, *_ = Report.objects.order_by("pk")
    _decide(superuser(), "delete_comment", first)
    assert not Comment.objects.filter(pk=comment.pk).exists()
    assert list(Report.objects.order_by("pk").values_list("outcome", flat=True)) == ["DELETED"] * 3 + [None]
    (event,) = AuditEvent.objects.filter(verb="comment:deleted")
    assert (event.object_id, event.reason) == (ada.pk, "")
    assert event.data == {"comment": comment.pk, "author": bob.pk}  # the owner may read it: it names no reporter


def test_a_comment_that_is_gone_closes_its_report_and_a_profile_has_none(comment: Comment, eve: Client) -> None:
    _send(eve, f"/Ada/comments/{comment.pk}/report")
    comments.delete(comment=comment, by=comment.author)
    _send(eve, "/Ada/report")
    staff = User.objects.get(username=superuser().get("/admin/").context["user"].username)
    gone, profile = Report.objects.order_by("pk")
    reports.delete_comment(report=gone, by=staff, reason="x")
    gone.refresh_from_db()
    assert gone.outcome == "DELETED"
    with pytest.raises(ValidationError, match="about a profile"):
        reports.delete_comment(report=profile, by=staff, reason="x")


def test_rights_of_staff(comment: Comment, eve: Client) -> None:
    _send(eve, f"/Ada/comments/{comment.pk}/report")
    report = Report.objects.get()
    looking, deciding = helper("view_report"), helper("view_report", "decide_report")
    assert _decide(looking, "dismiss", report).status_code == 403
    _decide(deciding, "delete_comment", report)
    assert "You may not delete comments." in deciding.get(page(Report)).content.decode()
    User.objects.filter(pk=comment.user_id).update(is_staff=True)
    full = helper("view_report", "decide_report", "delete_comment")
    _decide(full, "delete_comment", report)
    assert "Only a superuser" in full.get(page(Report)).content.decode()
    assert Comment.objects.exists()
    assert Report.objects.get().decided_at is None


@pytest.mark.parametrize("who", ["Ada", "Bob"])
def test_staff_neither_see_nor_decide_reports_about_themselves(comment: Comment, eve: Client, who: str) -> None:
    """The owner of the profile, and the author of the comment."""
    _send(eve, f"/Ada/comments/{comment.pk}/report")
    report, accused = Report.objects.get(), User.objects.get(username=who)
    with pytest.raises(PermissionDenied):
        reports.dismiss(report=report, by=accused, reason="x")
    accused.is_staff = True
    accused.save(update_fields=["is_staff"])
    accused.user_permissions.set(Permission.objects.filter(codename__in=["view_report", "decide_report"]))
    browser = _client(accused)
    assert list(browser.get(page(Report)).context["cl"].result_list) == []
    assert browser.get(f"{page(Report)}{report.pk}/change/").status_code != 200


@pytest.mark.parametrize(("who", "left"), [("Ada", 0), ("Bob", 0), ("Eve", 1)])
def test_a_report_goes_with_the_owner_and_the_author_and_outlives_the_reporter(
    comment: Comment, eve: Client, who: str, left: int
) -> None:
    _send(eve, f"/Ada/comments/{comment.pk}/report")
    users.delete(user=User.objects.get(username=who), by=None)
    assert Report.objects.count() == left
    assert Report.objects.filter(reporter=None).count() == left


THREADS = 8


def _reported(comment: Comment | None, by: User, user: User) -> bool:
    """False: it is reported already, or gone."""
    with contextlib.suppress(ValidationError, Comment.DoesNotExist, User.DoesNotExist):
        reports.send(user=user, name="Ada", comment=comment, reason="SPAM", text="", by=by)
        return True
    return False


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_double_click_sends_one_report(ada: User) -> None:
    eve, sent = UserFactory(), []
    comment = comments.write(user=ada, content="Hello", by=ada)
    together(THREADS, lambda number: sent.append(_reported(comment if number % 2 else None, eve, ada)))
    assert (Report.objects.count(), sum(sent)) == (2, 2)


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_author_deleted", [False, True])
def test_a_comment_is_reported_deleted_and_decided_at_once(ada: User, is_author_deleted: bool) -> None:
    """No open report keeps a comment that is gone, whoever deletes it."""
    bob, staff, people = UserFactory(), StaffFactory(), UserFactory.create_batch(THREADS)
    parent = comments.write(user=ada, content="Hello", by=ada)
    reply = comments.write(user=ada, content="Spam", parent=parent, by=bob)
    first = reports.send(user=ada, name="Ada", comment=reply, reason="SPAM", text="", by=ada)

    def act(number: int) -> None:
        with contextlib.suppress(ValidationError, Comment.DoesNotExist, User.DoesNotExist):
            if number == 0 and is_author_deleted:
                users.delete(user=bob, by=None)
            elif number == 1:
                reports.delete_comment(report=first, by=staff, reason="x")
            elif number == 2:
                comments.delete(comment=reply, by=ada)
            elif number == 3:
                reports.dismiss(report=first, by=staff, reason="x")
            else:
                _reported(reply, people[number], ada)

    together(THREADS, act)
    assert not Comment.objects.filter(pk=reply.pk).exists()
    assert not Report.objects.exclude(comment=None).exists()
    assert not is_author_deleted or not Report.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_deletion_of_an_author_locks_a_reply_after_what_it_replies_to(ada: User) -> None:
    """As a deletion of the reply does: in another order they would wait for each other."""
    bob = UserFactory()
    parent = comments.write(user=ada, content="Hello", by=ada)
    reply = comments.write(user=ada, content="Spam", parent=parent, by=bob)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Comment.objects.select_for_update(no_key=True).get(pk=parent.pk)
            deletion = pool.submit(_deleted, bob)
            wait_for_a_blocked_statement()
            Comment.objects.select_for_update(nowait=True).get(pk=reply.pk)
        deletion.result(timeout=30)
    assert list(Comment.objects.all()) == [parent]


def _deleted(user: User) -> None:
    try:
        users.delete(user=user, by=None)
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_of_two_who_hide_and_of_one_who_publishes_at_once_the_profile_is_hidden_once() -> None:
    ada, boss = UserFactory(), StaffFactory()
    profiles.set_public_access(user=ada, is_public=False, by=ada)

    def act(number: int) -> bool:
        try:
            if number:
                remedies.hide(user=ada, by=boss, reason="Why")
            else:
                profiles.set_public_access(user=ada, is_public=True, by=ada)
        except ValidationError:
            return False
        return True

    assert together(3, act)[1:].count(True) == 1
    ada.refresh_from_db()
    assert (ada.public_api_access, ada.is_hidden) == (False, True)
    assert StaffNotice.objects.count() == AuditEvent.objects.filter(verb="profile:hidden").count() == 1
