"""Concurrent requests: one wins, none is a server error, no token is left over."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from accounts import users
from accounts.models import User
from infrastructure.hashing import digest
from oidc_provider.authorize import approvals
from oidc_provider.models import AccessToken, Approval, Grant, RefreshToken, SigningKey
from oidc_provider.token import signing, token_queries
from tests.oidc_provider.protocol import (
    EVERY_SCOPE,
    INVALID_GRANT,
    Answer,
    App,
    authorize,
    code_for,
    refused,
    sent_back,
)
from tests.support.threads import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded]
THREADS = 4
ROUNDS = 2


def _winners(answers: list[Answer]) -> list[Answer]:
    """Return the answers with tokens, after checking that the others are invalid_grant."""
    won = [answer for answer in answers if answer.status_code == 200]
    assert [refused(answer) for answer in answers if answer.status_code != 200] == [INVALID_GRANT] * (
        len(answers) - len(won)
    )
    return won


def _live_rows() -> int:
    return AccessToken.objects.count() + RefreshToken.objects.filter(revoked__isnull=True).count()


def _same_session(browser: Client) -> Client:
    """Return another tab of the browser."""
    tab = Client()
    tab.cookies.load(browser.cookies.output(header="", sep=";"))
    return tab


def test_of_many_exchanges_of_one_code_one_wins(app: App, browser: Client) -> None:
    for _ in range(ROUNDS):
        AccessToken.objects.all().delete()
        RefreshToken.objects.all().delete()
        code = code_for(browser, app.application, scope=EVERY_SCOPE)
        answers = together(THREADS, lambda _, code=code: app.exchange(code))  # type: ignore[misc]  # bound early
        assert len(_winners(answers)) == 1
        assert _live_rows() in {0, 2}  # a loser that came after the winner was a replay: it revokes
        assert AccessToken.objects.count() == RefreshToken.objects.count()


def test_of_many_refreshes_of_one_token_one_wins_and_the_family_survives(app: App, browser: Client) -> None:
    for _ in range(ROUNDS):
        token = app.sign_in(browser)["refresh_token"]
        answers = together(THREADS, lambda _, token=token: app.refresh(token))  # type: ignore[misc]  # bound early
        (winner,) = _winners(answers)
        assert app.is_live(winner.json()["access_token"])
        assert app.refresh(winner.json()["refresh_token"]).status_code == 200


def test_what_two_requests_have_read_is_used_up_by_one(app: App, browser: Client) -> None:
    """Without threads: both read before either writes."""
    now = timezone.now()
    code = token_queries.read_code(app.application.client_id, digest(code_for(browser, app.application)))
    token = app.sign_in(browser)["refresh_token"]
    refresh_token = token_queries.read_refresh_token(app.application.client_id, digest(token))
    for presented, write in ((code, token_queries.exchange), (refresh_token, token_queries.rotate)):
        assert presented is not None
        before = _live_rows()
        assert write(presented, presented.scopes(), now) is not None
        after = _live_rows()
        assert write(presented, presented.scopes(), now) is None
        assert _live_rows() == after >= before


# What ends every access of an app for a user; the others are in test_ends_meanwhile.py.
ENDS: dict[str, Callable[[App, User], object]] = {
    "the user disconnects": lambda app, user: approvals.disconnect(user=user, application=app.application, by=user),
    "staff delete the user": lambda app, user: users.delete(user=user, by=None),
}


@pytest.mark.parametrize("end", ENDS)
def test_an_end_at_the_same_time_as_exchanges_leaves_no_live_token(
    app: App, browser: Client, user: User, end: str
) -> None:
    """A deadlock would be a server error for one of the threads."""
    codes = [code_for(browser, app.application, scope=EVERY_SCOPE) for _ in range(THREADS)]

    def act(number: int) -> Answer:
        return ENDS[end](app, user) if number == THREADS // 2 else app.exchange(codes[number])

    answers = [answer for number, answer in enumerate(together(THREADS, act)) if number != THREADS // 2]
    assert {answer.status_code for answer in answers} <= {200, 400, 401}
    assert [model.objects.count() for model in (Grant, AccessToken, RefreshToken)] == [0, 0, 0]


def test_a_revocation_at_the_same_time_as_a_refresh_leaves_no_live_token(app: App, browser: Client) -> None:
    for _ in range(ROUNDS):
        token = app.sign_in(browser)["refresh_token"]

        def act(number: int, token: str = token) -> Answer:
            return app.revoke(token) if number else app.refresh(token)

        answers = together(2, act)
        assert {answer.status_code for answer in answers} <= {200, 400}
        assert _live_rows() == 0


@pytest.mark.parametrize("before", [None, "openid"])
def test_tabs_that_approve_different_scopes_at_once_all_count(app: App, browser: Client, before: str | None) -> None:
    if before:
        code_for(browser, app.application, scope=before)
    scopes = ["openid", "identify", "email"]
    paths = [authorize(browser, app.application, scope=scope, prompt="consent")["Location"] for scope in scopes]

    def act(number: int) -> Answer:
        return _same_session(browser).post(paths[number], {"decision": "allow"})

    answers = together(len(scopes), act)
    assert all("code" in sent_back(answer) for answer in answers)
    assert Approval.objects.get().scopes == scopes


def test_of_many_answers_to_one_waiting_request_one_counts(app: App, browser: Client) -> None:
    for round_ in range(2 * ROUNDS):
        Grant.objects.all().delete()
        path = authorize(browser, app.application, prompt="consent")["Location"]
        decisions = ["allow", "cancel"] * (THREADS // 2) if round_ % 2 else ["allow"] * THREADS

        def act(number: int, path: str = path, decisions: list[str] = decisions) -> Answer:
            return _same_session(browser).post(path, {"decision": decisions[number]})

        answers = together(THREADS, act)
        assert sorted(answer.status_code for answer in answers) == [303] + [400] * (THREADS - 1)
        (winner,) = (sent_back(answer) for answer in answers if answer.status_code == 303)
        assert Grant.objects.count() == int("code" in winner)


def test_processes_that_start_at_once_agree_on_one_signing_key(db: None) -> None:
    keys = together(4, lambda _: signing.ensure_signing_key().kid)
    assert len(set(keys)) == 1
    assert SigningKey.objects.signing().count() == 1
