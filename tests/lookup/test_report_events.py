"""What the webhooks of a person hear of the reports that they sent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accounts.models import User, WebhookEndpoint
from lookup.models import Report
from lookup.social import comments, reports
from tests.factories.accounts import StaffFactory, UserFactory, WebhookEndpointFactory
from tests.factories.lookup import ReportFactory
from tests.support.outbox import posted

pytestmark = pytest.mark.django_db
ACTS: dict[str, Callable[..., object]] = {"dismissed": reports.dismiss, "handled": reports.mark_handled}


@pytest.fixture
def boss() -> User:
    return StaffFactory(username="Boss", is_superuser=True)


@pytest.fixture
def eve() -> User:
    return UserFactory(username="Eve")


@pytest.fixture
def endpoint(eve: User) -> WebhookEndpoint:
    return WebhookEndpointFactory(user=eve)


@pytest.mark.parametrize("outcome", ACTS)
def test_who_reported_hears_the_outcome_and_the_reported_person_nothing(
    boss: User, eve: User, endpoint: WebhookEndpoint, outcome: str
) -> None:
    report = ReportFactory(reporter=eve)
    owner = WebhookEndpointFactory(user=report.user)
    ACTS[outcome](report=report, by=boss, reason="Private words of staff")
    assert posted(endpoint) == [("report.decided", eve.pk, {"report_id": report.pk, "outcome": outcome})]
    assert posted(owner) == []


def test_each_reporter_of_a_deleted_comment_hears_of_their_own_report(
    boss: User, eve: User, endpoint: WebhookEndpoint
) -> None:
    ada, bob, zoe = (UserFactory(username=name) for name in ("Ada", "Bob", "Zoe"))
    comment = comments.write(user=ada, content="Buy lamps", by=bob)
    beside = WebhookEndpointFactory(user=zoe)
    first, second = (
        reports.send(user=ada, name="Ada", comment=comment, reason="SPAM", text="", by=by) for by in (eve, zoe)
    )
    reports.delete_comment(report=first, by=boss, reason="Spam")
    assert posted(endpoint) == [("report.decided", eve.pk, {"report_id": first.pk, "outcome": "deleted"})]
    assert posted(beside) == [("report.decided", zoe.pk, {"report_id": second.pk, "outcome": "deleted"})]


def test_a_report_whose_reporter_has_no_account_any_more_is_decided_all_the_same(boss: User) -> None:
    report = ReportFactory(reporter=None)
    reports.dismiss(report=report, by=boss, reason="No")
    assert Report.objects.get().outcome == "DISMISSED"
