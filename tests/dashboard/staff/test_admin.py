"""Requests in the admin: looked at, granted and denied, never written by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accounts.models import AuditEvent
from tests.dashboard.staff.pages import cost_of
from tests.factories.dashboard import AccessRequestFactory, DeniedRequestFactory, PermissionRequestFactory
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]
PAGE = "/admin/dashboard/accessrequest/"


@pytest.mark.parametrize(("act", "state"), [("grant", "GRANTED"), ("deny", "DENIED")])
def test_a_request_is_decided_in_the_admin(staff: Browser, act: str, state: str) -> None:
    asked = AccessRequestFactory()
    url = f"{PAGE}act/{act}/?id={asked.pk}"
    assert url in staff.open(f"{PAGE}{asked.pk}/change/").response.content.decode()
    staff.open(url).submit(reason="Because")
    asked.refresh_from_db()
    assert (asked.state, asked.answer) == (state, "Because")
    assert AuditEvent.objects.filter(verb=f"access_request:{state.lower()}", reason="Because").count() == 1
    assert "/act/" not in staff.open(f"{PAGE}{asked.pk}/change/").response.content.decode()


@pytest.mark.parametrize(("act", "state"), [("grant", "GRANTED"), ("deny", "PENDING")])
def test_only_a_grant_needs_no_reason(staff: Browser, act: str, state: str) -> None:
    in_admin, on_page = AccessRequestFactory(), PermissionRequestFactory()
    staff.open(f"{PAGE}act/{act}/?id={in_admin.pk}").submit(reason="")
    staff.open(f"/dashboard/staff/requests/{on_page.pk}/{act}/").submit(reason="")
    for asked in (in_admin, on_page):
        asked.refresh_from_db()
        assert (asked.state, asked.answer) == (state, "")


def test_it_needs_the_right(sign_in: SignIn) -> None:
    asked = AccessRequestFactory()
    looking = sign_in("dashboard.view_accessrequest")
    assert "/act/" not in looking.open(f"{PAGE}{asked.pk}/change/").response.content.decode()
    assert looking.client.get(f"{PAGE}act/grant/?id={asked.pk}").status_code == 403
    assert sign_in("dashboard.decide_accessrequest").client.get(f"{PAGE}act/grant/?id={asked.pk}").status_code == 200


def test_no_request_is_written_by_hand(staff: Browser) -> None:
    asked = AccessRequestFactory()
    assert staff.client.get(f"{PAGE}add/").status_code == 403
    assert staff.client.get(f"{PAGE}{asked.pk}/delete/").status_code == 403
    assert staff.open(f"{PAGE}{asked.pk}/change/").page.xpath("//input[@name='_save']") == []


def test_the_list_costs_the_same_for_one_request_and_for_ten(staff: Browser) -> None:
    def add() -> None:
        PermissionRequestFactory()
        DeniedRequestFactory()

    add()
    before = (cost_of(staff, PAGE), cost_of(staff, PAGE))[1]
    for _ in range(9):
        add()
    assert cost_of(staff, PAGE) == before
