"""The first page of the admin: panels and models that the member of staff may see, at a cost that rows do not raise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from lxml import html

from accounts.models import JobRun
from config import jobs, operator_home
from oidc_provider import request_log
from oidc_provider.models import OK, RequestKind, UsageCount
from tests.factories.dashboard import AccessRequestFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import ReportFactory
from tests.factories.oidc_provider import ApplicationFactory

pytestmark = pytest.mark.django_db
HelperWith = Callable[..., Client]


@pytest.fixture(autouse=True)
def _no_settled_days() -> Iterator[None]:
    request_log._settled.clear()
    yield
    request_log._settled.clear()


def panels(browser: Client) -> dict[str, str]:
    """The text of each panel by its title."""
    page = html.fromstring(browser.get("/admin/").content.decode())
    return {
        section.xpath("string(h2)"): " ".join(section.text_content().split())
        for section in page.xpath("//section[contains(@class, 'watch')]")
    }


def groups(browser: Client) -> list[str]:
    page = html.fromstring(browser.get("/admin/").content.decode())
    return [" ".join(text.text_content().split()) for text in page.xpath("//*[contains(@class, 'models')]/*[1]")]


def test_a_superuser_sees_every_panel_and_every_group(browser: Client) -> None:
    assert list(panels(browser)) == [
        "Requests to staff",
        "Reports",
        "Jobs",
        "Live presence",
        "Storage",
        "Sign-ins to apps",
        "Suspended apps",
    ]
    *named, data = groups(browser)
    assert named == ["People", "Apps and keys", "Profiles", "Files", "Operation"]
    assert data.startswith("Data ")


def test_a_helper_sees_the_panels_and_models_of_their_rights_alone(helper_with: HelperWith) -> None:
    helper = helper_with("imagehost.view_file")
    assert list(panels(helper)) == ["Storage"]
    assert groups(helper) == ["Files"]
    without_rights = helper_with()
    assert (panels(without_rights), groups(without_rights)) == ({}, [])
    assert "Your account has no permission to view anything here." in without_rights.get("/admin/").content.decode()


def test_the_queue_says_how_many_wait_and_since_when(browser: Client, helper_with: HelperWith) -> None:
    assert panels(browser)["Requests to staff"] == "Requests to staff None waiting Open the queue"
    AccessRequestFactory(created_at=timezone.now() - timedelta(days=2))
    assert "Needs work 1 waiting Oldest 2 days ago" in panels(browser)["Requests to staff"]
    looking = helper_with("dashboard.view_accessrequest")
    for reader in (browser, looking):
        assert 'href="/dashboard/staff/requests/">Open the queue' in reader.get("/admin/").content.decode()
    assert looking.get("/dashboard/staff/requests/").status_code == 200


def test_open_reports_are_counted_with_the_oldest(browser: Client, helper_with: HelperWith) -> None:
    assert panels(browser)["Reports"] == "Reports None waiting Open reports"
    ReportFactory(created_at=timezone.now() - timedelta(days=3), decided_at=timezone.now())
    ReportFactory(created_at=timezone.now() - timedelta(days=2))
    looking = helper_with("lookup.view_report")
    assert list(panels(looking).values()) == ["Reports Needs work 1 waiting Oldest 2 days ago Open reports"]
    assert 'href="/dashboard/staff/reports/"' in looking.get("/admin/").content.decode()


def test_a_count_stops_at_its_bound(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator_home, "BOUND", 1)
    AccessRequestFactory()
    FileFactory()
    found = panels(browser)
    assert "Requests to staff Needs work 1 waiting" in found["Requests to staff"]
    assert "Previews to make 1 " in found["Storage"]
    for _ in range(2):
        AccessRequestFactory()
        FileFactory()
    found = panels(browser)
    assert "1+ waiting" in found["Requests to staff"]
    assert "Previews to make 1+" in found["Storage"]


def test_a_job_that_fails_is_named_with_its_error(browser: Client) -> None:
    jobs.scheduled()
    JobRun.objects.update(succeeded_at=timezone.now())
    assert panels(browser)["Jobs"] == f"Jobs All {len(jobs.SCHEDULE)} run on time All jobs"
    JobRun.objects.filter(name="sweep_uploads").update(last_error="The disk is full.")
    assert "Needs work 1 of" in panels(browser)["Jobs"]
    assert "sweep_uploads failed: The disk is full." in panels(browser)["Jobs"]


def test_suspended_apps_are_named_with_a_link_to_each(browser: Client) -> None:
    app = ApplicationFactory(name="Lamp", suspended_at=datetime(2026, 3, 4, tzinfo=UTC))
    ApplicationFactory(name="Good")
    text = panels(browser)["Suspended apps"]
    assert "1 suspended Lamp 4 March 2026" in text
    assert "Good" not in text
    assert f'href="/admin/oidc_provider/application/{app.pk}/change/"' in browser.get("/admin/").content.decode()


def signed_in(at: datetime, count: int, kind: RequestKind = RequestKind.CODE, outcome: str = OK) -> None:
    hour = at.replace(minute=0, second=0, microsecond=0)
    UsageCount.objects.create(application=ApplicationFactory(), hour=hour, kind=kind, outcome=outcome, count=count)


def test_sign_ins_are_counted_by_day(browser: Client) -> None:
    with time_machine.travel(datetime(2026, 3, 4, 12, tzinfo=UTC), tick=False):
        now = timezone.now()
        signed_in(now, 3)
        signed_in(now, 4, RequestKind.TRIED)
        signed_in(now - timedelta(days=1), 5)
        signed_in(now, 9, RequestKind.REFRESH)
        signed_in(now, 9, outcome="invalid_grant")
        signed_in(now - timedelta(days=7), 9)
        assert list(request_log.sign_ins_by_day(now).values()) == [0, 0, 0, 0, 0, 5, 7]


def test_a_day_that_is_over_is_counted_once_and_the_present_one_always() -> None:
    midnight = datetime(2026, 3, 4, tzinfo=UTC)
    signed_in(midnight - timedelta(hours=1), 1)
    assert list(request_log.sign_ins_by_day(midnight + timedelta(minutes=30)).values())[-2:] == [1, 0]
    signed_in(midnight - timedelta(hours=1), 1)  # written late
    assert list(request_log.sign_ins_by_day(midnight + timedelta(hours=2)).values())[-2:] == [2, 0]
    signed_in(midnight - timedelta(hours=1), 5)
    signed_in(midnight, 3)
    assert list(request_log.sign_ins_by_day(midnight + timedelta(hours=3)).values())[-2:] == [2, 3]


def test_the_page_costs_the_same_for_any_number_of_rows(browser: Client) -> None:
    def cost() -> int:
        request_log._settled.clear()
        with CaptureQueriesContext(connection) as queries:
            assert browser.get("/admin/").status_code == 200
        return len(queries)

    browser.get("/admin/")
    before = cost()
    for _ in range(3):
        AccessRequestFactory()
        ReportFactory()
        FileFactory()
        ApplicationFactory(suspended_at=timezone.now())
        signed_in(timezone.now(), 1)
    assert cost() == before
    assert before <= 13  # 8 of the panels; session, user, second factor


def test_one_apps_page_lists_its_models(browser: Client) -> None:
    assert groups(browser)
    page = browser.get("/admin/imagehost/").content.decode()
    assert "/admin/imagehost/folder/" in page
    assert "/admin/accounts/user/" not in page


def test_the_colors_of_the_admin_are_those_of_the_site() -> None:
    styles = Path(settings.BASE_DIR, "static", "css")
    tokens = re.compile(r"^\s*(--[a-z-]+: (?!var).*;)$", re.MULTILINE)
    site = set(tokens.findall((styles / "base.css").read_text()))
    mine = tokens.findall((styles / "admin.css").read_text())
    assert len(mine) > 20
    assert [token for token in mine if token not in site] == []


def test_abbreviations_have_capitals(browser: Client) -> None:
    assert "API keys" in browser.get("/admin/").content.decode()
    form = browser.get(reverse("admin:lookup_link_add")).context["adminform"].form
    labels = {name: field.label for name, field in form.fields.items() if "url" in name or "svg" in name}
    assert labels["url"] == "URL"
    assert labels["icon_svg"] == "Icon SVG"
