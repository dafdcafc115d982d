"""Reports on the desk: who sees which, what a page shows of the thing, and what each act does to its reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from accounts.models import AuditEvent, StaffNotice, User
from accounts.staff_actions import StaffAction
from dashboard.staff import actions, report_actions
from imagehost.models import File
from lookup.models import Asset, Comment, Decision, Profile, Report
from lookup.social import cases
from tests.dashboard.staff.pages import REPORTS, cost_of
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import AssetFactory, CommentFactory, ReportFactory, main_profile
from tests.pages.markup import problems_of
from tests.support.browser import Browser
from tests.support.threads import together

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DECIDE = "lookup.decide_report"


def on_profile(user: User, **fields: Any) -> Report:
    return ReportFactory(comment=None, user=user, **fields)


def on_file(file: File, **fields: Any) -> Report:
    named = {"kind": "FILE", "thing": str(file.pk), "title": file.original_name, "path": f"/files/{file.name}"}
    return ReportFactory(comment=None, user=file.owner, **named, **fields)


def page(report: Report, act: str = "") -> str:
    return f"{REPORTS}{report.pk}/{f'{act}/' if act else ''}"


def rows(browser: Browser) -> list[str]:
    return [" ".join(row.text_content().split()) for row in browser.page.xpath("//*[@class='row__title']")]


def acts(browser: Browser) -> list[str]:
    """The labels of the acts with their keys."""
    return [" ".join(link.text_content().split()) for link in browser.page.xpath("//*[@class='case__acts']/a")]


def outcomes() -> set[str | None]:
    return set(Report.objects.values_list("outcome", flat=True))


def test_things_are_listed_once_each_the_one_that_has_waited_longest_first(staff: Browser) -> None:
    ada, bob = UserFactory(username="Ada"), UserFactory(username="Bob")
    comment = CommentFactory(user=ada, author=bob, content="Buy lamps")
    on_profile(ada, created_at=NOW, reason="HARASSMENT", text="Look at the picture")
    on_profile(ada, created_at=NOW - timedelta(days=1))
    ReportFactory(comment=comment, created_at=NOW - timedelta(hours=1), kind="COMMENT")
    on_profile(bob, decided_at=NOW, outcome="DISMISSED")
    assert rows(staff.open(REPORTS)) == [
        "Profile of Ada Spam or advertising 2 reports",
        "Comment of Bob Spam or advertising",
    ]
    assert "Buy lamps" in staff.text
    assert problems_of(staff.response) == []
    assert rows(staff.open(f"{REPORTS}?reason=HARASSMENT")) == ["Profile of Ada Harassment or hate"]
    assert rows(staff.open(f"{REPORTS}?kind=COMMENT")) == ["Comment of Bob Spam or advertising"]
    assert rows(staff.open(f"{REPORTS}?state=DECIDED")) == ["Profile of Bob Spam or advertising Dismissed"]
    assert rows(staff.open(f"{REPORTS}?state=x&kind=x&reason=x&page=x"))[1:] == ["Comment of Bob Spam or advertising"]


def test_a_profile_is_shown_as_visitors_see_it_with_its_pictures(staff: Browser) -> None:
    ada, eve = UserFactory(username="Ada"), UserFactory(username="Eve")
    avatar, picture = AssetFactory(owner=ada), AssetFactory(owner=ada)
    AssetFactory(owner=ada, mime="audio/mpeg")
    profile = main_profile(ada)
    Profile.objects.filter(pk=profile.pk).update(description="Hello there", avatar=avatar)
    report = on_profile(ada, reporter=eve, text="See <b>the</b> picture")
    earlier = on_profile(ada, decided_at=NOW, outcome="HANDLED")
    text = staff.open(page(report)).text
    assert problems_of(staff.response) == []
    assert acts(staff) == ["Dismiss 1", "Warn 2", "Hide the profile 3", "Ban 4", "Mark as handled 5"]
    for words in ("See <b>the</b> picture", "By Eve", "Avatar Remove", "Spam or advertising Handled"):
        assert words in text
    assert page(earlier) not in staff.response.content.decode()  # it is about the same thing: in the list above
    links = staff.page.xpath("//*[@class='case__pictures']//a/@href")
    assert links == [f"{page(report)}pictures/{shown.pk}/" for shown in (avatar, picture)]
    (frame,) = staff.page.xpath("//iframe")
    assert frame.get("sandbox") == "allow-same-origin"
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    shown = staff.client.get(frame.get("src"))
    assert "Hello there" in shown.content.decode()
    assert shown.headers["X-Frame-Options"] == "SAMEORIGIN"
    assert "frame-ancestors 'self'" in shown.headers["Content-Security-Policy"]


def test_a_comment_is_shown_as_it_was_with_what_it_replies_to(staff: Browser) -> None:
    parent = CommentFactory(content="A question")
    comment = CommentFactory(user=parent.user, parent=parent, content="Buy lamps")
    report = ReportFactory(comment=comment, kind="COMMENT")
    Comment.objects.filter(pk=comment.pk).update(content="Buy nothing")
    text = staff.open(page(report)).text
    assert acts(staff) == ["Dismiss 1", "Warn 2", "Delete comment and close 3", "Ban 4", "Mark as handled 5"]
    for words in ("A question", "The reply: Buy lamps", "It now says: Buy nothing"):
        assert words in text
    Comment.objects.all().delete()
    assert "It has been deleted" in staff.open(page(report)).text
    assert "Delete comment and close 3" not in acts(staff)


def test_a_file_is_shown_to_staff_in_quarantine_too(staff: Browser, sign_in: SignIn) -> None:
    file = FileFactory(original_name="cat.png")
    report = on_file(file)
    staff.open(page(report))
    assert acts(staff) == ["Dismiss 1", "Warn 2", "Take down and close 3", "Ban 4", "Mark as handled 5"]
    (src,) = staff.page.xpath("//img[@class='case__picture']/@src")
    assert src == f"/dashboard/staff/files/{file.pk}/picture/"
    assert sign_in("accounts.ban_user").client.get(src).status_code == 403
    assert sign_in(is_staff=False).client.get(src).status_code == 403
    File.objects.update(quarantined_at=NOW, caption="Buy <b>lamps</b>")
    text = staff.open(page(report)).text
    assert "In quarantine" in text
    assert "Buy <b>lamps</b>" in text


@pytest.mark.parametrize(
    ("act", "right", "outcome", "verb"),
    [
        ("dismiss", DECIDE, "DISMISSED", "report:decided"),
        ("handled", DECIDE, "HANDLED", "report:decided"),
        ("hide", "accounts.hide_user", "HANDLED", "profile:hidden"),
        ("warn", "accounts.warn_user", "HANDLED", "user:warned"),
        ("ban", "accounts.ban_user", "HANDLED", "user:banned"),
    ],
)
def test_an_act_closes_all_reports_about_the_thing_and_leads_to_the_next_one(
    sign_in: SignIn, act: str, right: str, outcome: str, verb: str
) -> None:
    ada = UserFactory(username="Ada")
    report, other = on_profile(ada), on_profile(ada)
    following = on_profile(UserFactory())
    path = page(report, act)
    for without in (sign_in(right), sign_in(DECIDE), sign_in(right, DECIDE, is_staff=False)):
        if right != DECIDE:
            assert without.client.get(path).status_code == 403
            assert path not in without.client.get(page(report)).content.decode()
    browser = sign_in(right, DECIDE)
    assert path in browser.open(page(report)).response.content.decode()
    browser.open(path)
    assert problems_of(browser.response) == []
    browser.submit(reason="Because")
    assert browser.response.redirect_chain == [(page(following), 302)]
    assert set(Report.objects.filter(pk__in=[report.pk, other.pk]).values_list("outcome", flat=True)) == {outcome}
    assert Report.objects.get(pk=following.pk).outcome is None
    assert AuditEvent.objects.filter(verb=verb, reason="Because", actor=browser.user()).exists()
    assert "decided already" in browser.open(path).text  # by a button of an old page


def test_a_removed_picture_leaves_the_report_open_for_what_is_left(sign_in: SignIn) -> None:
    ada = UserFactory(username="Ada")
    first, second = AssetFactory(owner=ada), AssetFactory(owner=ada)
    report = on_profile(ada)
    on_profile(UserFactory())
    path, right = page(report, f"pictures/{first.pk}"), "lookup.delete_asset"
    for without in (sign_in(right), sign_in(DECIDE), sign_in(right, DECIDE, is_staff=False)):
        assert without.client.get(path).status_code == 403
        assert path not in without.client.get(page(report)).content.decode()
    browser = sign_in(right, DECIDE)
    assert "Removing a picture leaves the report open" in browser.open(page(report)).text
    browser.open(path)
    assert "The report stays open. Decide it when nothing is left to do." in browser.text
    browser.submit(reason="Because")
    assert browser.response.redirect_chain == [(page(report), 302)]
    assert "The picture of Ada is removed. The report stays open." in browser.text
    assert list(Asset.objects.filter(owner=ada)) == [second]
    assert outcomes() == {None}
    assert AuditEvent.objects.filter(verb="asset:removed", reason="Because", actor=browser.user()).exists()
    assert acts(browser)[-1].startswith("Mark as handled")


def test_no_picture_is_removed_for_a_report_that_another_has_decided_meanwhile(superuser: User) -> None:
    report = on_profile(UserFactory())
    removal = report_actions.removal(AssetFactory(owner=report.user))
    Report.objects.update(decided_at=NOW, outcome="DISMISSED")
    with pytest.raises(ValidationError, match="decided already"):
        actions.perform(removal, report, by=superuser, reason="Because")
    assert Asset.objects.exists()


def test_a_comment_is_deleted_and_the_last_report_leads_to_the_list(staff: Browser) -> None:
    report = ReportFactory(kind="COMMENT")
    staff.open(page(report, "delete-comment")).submit(reason="Spam")
    assert staff.response.redirect_chain == [(REPORTS, 302)]
    assert not Comment.objects.exists()
    assert outcomes() == {"DELETED"}


def test_a_ban_closes_every_report_about_the_person(staff: Browser) -> None:
    ada = UserFactory()
    report = on_profile(ada)
    ReportFactory(comment=CommentFactory(author=ada), kind="COMMENT")
    on_her_page = ReportFactory(comment=CommentFactory(user=ada), kind="COMMENT")
    staff.open(page(report, "ban")).submit(reason="Spam")
    assert set(Report.objects.filter(decided_at=None)) == {on_her_page}


def test_a_ban_leaves_the_reports_that_the_member_of_staff_does_not_see(sign_in: SignIn) -> None:
    browser, eve = sign_in(DECIDE, "accounts.ban_user"), UserFactory()
    report = on_profile(eve)
    on_their_page = ReportFactory(comment=CommentFactory(user=browser.user(), author=eve), kind="COMMENT")
    assert page(on_their_page) not in browser.open(page(report)).response.content.decode()
    browser.open(page(report, "ban")).submit(reason="Spam")
    eve.refresh_from_db()
    assert eve.is_banned
    assert set(Report.objects.filter(decided_at=None)) == {on_their_page}


def test_deleted_comments_of_the_same_words_and_another_author_are_another_thing(staff: Browser) -> None:
    ada, eve, mallory = (UserFactory(username=name) for name in ("Ada", "Eve", "Mallory"))
    for author in (eve, mallory):
        ReportFactory(comment=CommentFactory(user=ada, author=author, content="Buy lamps"), kind="COMMENT")
    Comment.objects.all().delete()
    assert {row.split(" Spam")[0] for row in rows(staff.open(REPORTS))} == {"Comment of Eve", "Comment of Mallory"}
    staff.open(page(Report.objects.get(author=eve), "warn")).submit(reason="Please stop")
    assert Report.objects.get(author=mallory).outcome is None


def test_what_is_private_needs_a_right_of_its_own(sign_in: SignIn) -> None:
    ada, eve = UserFactory(public_api_access=False), UserFactory()
    file = FileFactory(owner=eve, quarantined_at=NOW)
    AssetFactory(owner=ada)
    report = on_profile(ada)
    appeal = Decision.objects.create(
        user=eve, kind="FILE", thing=str(file.pk), title="A", reason="SPAM", appeal="No", appealed_at=NOW
    )
    frame = f"{page(report)}profile/"
    assert frame in sign_in(DECIDE).open(page(report)).response.content.decode()
    assert sign_in(DECIDE).client.get(frame).status_code == 200
    assert sign_in(DECIDE).client.get(f"{page(on_file(file))}profile/").status_code == 404
    assert sign_in("accounts.view_user").client.get(frame).status_code == 403
    person = f"/dashboard/staff/people/{ada.pk}/"
    for right, are_shown in {"accounts.view_user": False, "lookup.view_profile": True}.items():
        assert ("Pictures of the profile" in sign_in("accounts.view_user", right).open(person).text) is are_shown
    browser = sign_in("lookup.view_decision")
    browser.open(f"/dashboard/staff/appeals/{appeal.pk}/")
    (src,) = browser.page.xpath("//img[@class='case__picture']/@src")
    assert browser.client.get(src).status_code == 404  # not 403: its object alone is missing here
    for path in (f"/dashboard/staff/files/{file.pk}/", f"/dashboard/staff/people/{eve.pk}/"):
        assert browser.client.get(path).status_code == 403
        assert f'"{path}"' not in browser.response.content.decode()
    for staff, path in ((browser, f"/dashboard/staff/appeals/{appeal.pk}/"), (sign_in(DECIDE), page(report))):
        assert "Activity" not in staff.open(path).text


def test_an_act_that_is_refused_leaves_the_report_open(staff: Browser, superuser: User) -> None:
    report = on_profile(UserFactory())
    hide = next(act for act in report_actions.fitting(report) if act.name == "hide_profile")
    User.objects.filter(pk=report.user_id).update(hidden_at=NOW, public_api_access=False)
    with pytest.raises(ValidationError, match="hidden already"):
        actions.perform(hide, report, by=superuser, reason="Because")
    assert outcomes() == {None}
    assert "Hide the profile" not in " ".join(acts(staff.open(page(report))))


def test_staff_see_no_report_about_themselves_and_decide_none_about_staff(sign_in: SignIn) -> None:
    rights = (DECIDE, "accounts.ban_user", "accounts.hide_user", "accounts.warn_user")
    browser = sign_in(*rights)
    reader = browser.user()
    assert reader is not None
    own, on_colleague = on_profile(reader), on_profile(StaffFactory(username="Boss"))
    written = ReportFactory(comment=CommentFactory(author=reader), kind="COMMENT")
    assert rows(browser.open(REPORTS)) == ["Profile of Boss Spam or advertising"]
    for report in (own, written):
        assert browser.client.get(page(report)).status_code == 404
        assert browser.client.get(page(report, "dismiss")).status_code == 404
    assert acts(browser.open(page(on_colleague))) == []
    browser.open(page(on_colleague, "dismiss"))
    assert "Only a superuser may do this to a staff account." in browser.text
    assert outcomes() == {None}


def test_there_is_no_such_act_and_no_picture_of_another_person(staff: Browser) -> None:
    report, picture = on_profile(UserFactory()), AssetFactory()
    comment = ReportFactory(kind="COMMENT")
    of_owner = AssetFactory(owner=comment.user)
    paths = [page(report, "reset"), page(report, f"pictures/{picture.pk}"), page(comment, f"pictures/{of_owner.pk}")]
    for path in [*paths, f"{REPORTS}{'9' * 30}/"]:
        assert staff.client.get(path).status_code == 404, path
    assert staff.client.get(page(comment, "hide")).status_code == 404
    assert Asset.objects.count() == 2


@pytest.mark.embedded
def test_pages_cost_the_same_for_one_report_and_for_ten(staff: Browser) -> None:
    ada = UserFactory()
    report, of_file = on_profile(ada), on_file(FileFactory())

    def add() -> None:
        on_profile(ada)
        AssetFactory(owner=ada)
        ReportFactory(comment=CommentFactory(author=ada), kind="COMMENT")

    add()
    paths = (REPORTS, f"{REPORTS}?state=DECIDED", page(report), page(of_file))
    before = [(cost_of(staff, path), cost_of(staff, path))[1] for path in paths]
    for _ in range(9):
        add()
    assert [cost_of(staff, path) for path in paths] == before


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_at_once_one_warns_and_the_other_reads_that_it_is_decided() -> None:
    report, boss = on_profile(UserFactory()), StaffFactory()
    warn, ban = (next(act for act in report_actions.fitting(report) if act.name == name) for name in ("warn", "ban"))

    def act(number: int) -> bool:
        try:
            actions.perform(
                (warn, ban, warn)[number], Report.objects.get(pk=report.pk), by=boss, reason=f"No. {number}"
            )
        except ValidationError:
            return False
        return True

    assert together(3, act).count(True) == 1
    assert StaffNotice.objects.count() + User.objects.filter(banned_at__isnull=False).count() == 1
    assert AuditEvent.objects.filter(verb="report:decided").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_who_decide_two_reports_about_one_thing_at_once_one_decides_both() -> None:
    boss, ada = StaffFactory(is_superuser=True), UserFactory()
    for _ in range(5):
        both = [on_profile(ada), on_profile(ada)]
        dismiss = next(act for act in report_actions.fitting(both[0]) if act.name == "dismiss")

        def act(number: int, both: list[Report] = both, dismiss: StaffAction = dismiss) -> bool:
            try:
                actions.perform(dismiss, both[number], by=boss, reason="No rule")
            except ValidationError:
                return False
            return True

        assert together(2, act).count(True) == 1
    assert AuditEvent.objects.filter(verb="report:decided").count() == 10


def test_the_next_report_is_the_one_that_came_after_it_or_else_the_oldest(superuser: User) -> None:
    ada = UserFactory()
    first = on_profile(UserFactory(), created_at=NOW)
    second, again = on_profile(ada, created_at=NOW), on_profile(ada, created_at=NOW)
    third = on_profile(UserFactory(), created_at=NOW + timedelta(hours=1))
    for report, following in ((first, second), (second, third), (again, third), (third, first)):
        assert cases.next_after(report, staff=superuser) == following
