"""Appeals on the desk: who may answer one, what the others read instead, and which acts on reports need a further
right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from accounts.models import User
from imagehost.models import File
from lookup.models import Decision
from tests.dashboard.staff.pages import DESK, REPORTS
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import ReportFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DECIDE, QUARANTINE = "lookup.decide_report", "imagehost.quarantine_file"


@pytest.fixture
def file() -> File:
    """Ada's, in quarantine."""
    made: File = FileFactory(owner=UserFactory(username="Ada"), original_name="lamp.png", quarantined_at=NOW)
    return made


def appealed(file: File, by: User | None) -> str:
    """The page of the appeal against a decision of `by`."""
    assert file.owner is not None
    values = {"reason": "SPAM", "appeal": "I own one.", "appealed_at": NOW, "decided_by": by, "title": "lamp.png"}
    made = Decision.objects.create(user=file.owner, kind="FILE", thing=str(file.pk), **values)
    return f"{DESK}appeals/{made.pk}/"


def acts(browser: Browser) -> list[str]:
    return [" ".join(link.text_content().split()) for link in browser.page.xpath("//*[@class='case__acts']/a")]


def test_who_decided_reads_who_may_answer_and_is_asked_for_no_words(sign_in: SignIn, file: File) -> None:
    decider, other = (sign_in(DECIDE, QUARANTINE, "lookup.view_decision") for _ in range(2))
    path = appealed(file, decider.user())
    text = decider.open(path).text
    assert problems_of(decider.response) == []
    assert acts(decider) == []
    assert "You made this decision. Another member of staff answers the appeal." in text
    assert "Staff with the right to decide reports may answer it, and superusers." in text
    for act in ("grant", "refuse"):
        decider.open(f"{path}{act}/")
        assert decider.response.redirect_chain == [(path, 302)]
        assert decider.page.xpath("//textarea") == []
    assert acts(other.open(path)) == ["Grant the appeal 1", "Refuse the appeal 2"]
    boss = sign_in(superuser=True)
    Decision.objects.update(decided_by=boss.user())
    assert acts(boss.open(path)) == ["Grant the appeal 1", "Refuse the appeal 2"]
    admin = f"/admin/lookup/decision/{Decision.objects.get().pk}/change/"
    Decision.objects.update(decided_by=decider.user())
    for browser, is_offered in ((decider, False), (other, True)):
        assert ("/act/grant/" in browser.open(admin).response.content.decode()) is is_offered


def test_without_the_right_to_restore_an_appeal_is_only_refused(sign_in: SignIn, file: File) -> None:
    path = appealed(file, UserFactory())
    browser = sign_in(DECIDE)
    assert "To grant it, staff also need the right to take files down and restore them." in browser.open(path).text
    assert acts(browser) == ["Refuse the appeal 1"]
    assert "You may not take files down or restore them." in browser.open(f"{path}grant/").text
    reader = sign_in("lookup.view_decision").open(path)
    assert "You may read appeals. Staff with the right to decide reports answer them." in reader.text
    assert acts(reader) == []


def test_an_appeal_of_staff_says_that_only_a_superuser_can_answer_it(sign_in: SignIn, file: File) -> None:
    path = appealed(file, UserFactory())
    User.objects.filter(pk=file.owner_id).update(is_staff=True)
    words = "This is about a staff account: only a superuser can answer the appeal."
    moderator = sign_in(DECIDE, QUARANTINE).open(path)
    assert (acts(moderator), words in moderator.text) == ([], True)
    assert "Staff with the right to decide reports answer them." not in moderator.text
    boss = sign_in(superuser=True).open(path)
    assert (acts(boss), words in boss.text) == (["Grant the appeal 1", "Refuse the appeal 2"], False)


@pytest.mark.parametrize(
    ("kind", "act", "right", "refusal"),
    [
        ("FILE", "take-down", QUARANTINE, "You may not take files down or restore them."),
        ("COMMENT", "delete-comment", "lookup.delete_comment", "You may not delete comments."),
    ],
)
def test_an_act_on_the_reported_thing_is_shown_to_those_who_may_do_it(
    sign_in: SignIn, kind: str, act: str, right: str, refusal: str
) -> None:
    if kind == "FILE":
        file = FileFactory()
        report = ReportFactory(comment=None, user=file.owner, kind=kind, thing=str(file.pk), title="A", path="/files/A")
    else:
        report = ReportFactory(kind=kind)
    page = f"{REPORTS}{report.pk}/"
    without, allowed = sign_in(DECIDE), sign_in(DECIDE, right)
    assert acts(without.open(page)) == ["Dismiss 1", "Mark as handled 2"]
    assert refusal in without.open(f"{page}{act}/").text
    assert without.page.xpath("//textarea") == []
    assert f"{page}{act}/" in allowed.open(page).response.content.decode()
    assert allowed.open(f"{page}{act}/").page.xpath("//textarea") != []
