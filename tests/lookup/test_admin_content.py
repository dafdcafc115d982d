"""What staff change in the admin shows in the lookups at once, and the documents agree with the tables."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db.models import Model

from accounts import users
from lookup import models
from lookup.admin.content import ProfileContentAdmin
from lookup.documents import document_checks, registry
from lookup.editing import badge_tiers
from tests.factories.lookup import BadgeFactory, BadgeTierFactory
from tests.lookup import answers
from tests.lookup.admin_forms import page, post, save, superuser
from tests.lookup.answers import INCLUDES, NOT_FOUND
from tests.lookup.filled import ADA, BEN, OPERATOR, OTHER_PROFILE, Filled, row

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("unlimited")]

NEW = "Written by staff"
SHOWN = {NEW, "#abcdef", "banners/new.png"}  # values that answers contain as they were typed
PINNED, FIRST = row(0x4001), '"content":"First","likeCount":'
# Rendered, ranked or counted from the others: no form writes them.
DERIVED: set[type[Model]] = {
    models.UserDocument,
    models.ProfileDocument,
    models.LeaderboardEntry,
    models.Visit,
    models.VisitBatch,
    models.VisitSalt,
    models.ProfileBlock,  # owners write it on their own pages
    models.Report,  # no lookup has it
    models.Decision,
    models.ProfileDay,
    models.LinkDay,
}


def current() -> str:
    answer = answers.user(ADA, *INCLUDES, by="id")
    assert answer.status == 200
    return answer.text


def key_of(model: type[Model], key: Any) -> Any:
    """Any: the key of the row, or what it is found by."""
    return model._default_manager.get(**key).pk if isinstance(key, dict) else key


def check(*, appears: str, vanishes: str, before: str) -> None:
    """The lookup shows the one and no form of it the other, and the documents are what the tables say."""
    assert list(document_checks.differences()) == []
    assert not vanishes or vanishes in before
    assert not appears or appears not in before
    after = [current(), answers.earlier(1, by="uid").text]
    assert appears in after[0]
    assert not vanishes or [vanishes in text for text in after] == [False, False]


# Model, row, what is changed in its form, and what vanishes from the answers; what appears is the new value.
CHANGES: list[tuple[type[Model], Any, dict[str, Any], str]] = [
    (models.Profile, {"user": ADA, "is_main": True}, {"description": NEW}, "First programmer."),
    (models.Asset, {"path": "banners/ada.png"}, {"path": "banners/new.png"}, "banners/ada.png"),
    (models.Badge, "viewer", {"name": NEW}, '"name":"Viewer"'),
    (models.Badge, "viewer", {"tiers-0-title": NEW}, "Hundred"),
    (models.ProfileBadge, row(0xB1), {"color": "#abcdef"}, "#222222"),
    (models.CustomBadge, row(0xB3), {"name": NEW}, '"name":"Mine"'),
    (models.Widget, row(0xA1), {"identifier": NEW}, "ada on chatServer"),
    (models.Audio, row(0xC1), {"title": NEW}, "Engine song"),
    (models.Background, row(0xE2), {"title": NEW}, "A film"),
    (models.Project, row(0xF1), {"title": NEW}, '"title":"Engine"'),
    (models.Section, row(0x94), {"title": NEW}, '"title":"Section 4"'),
    (models.GalleryItem, row(0x61), {"caption": NEW}, "Picture 97"),
    (models.Game, 12, {"name": NEW}, "Draughts"),
    (models.Anime, 21, {"title": NEW}, "Gears"),
    (models.MediaTitle, 32, {"title": NEW}, "Looms"),
    (models.MusicItem, {"music_id": "t1"}, {"title": NEW}, '"title":"Loom"'),
    (models.Alias, "COUNTESS", {"redirects": None, "has_own_profile": "on"}, '"name":"Countess","redirect":true'),
    (models.Badge, "viewer", {"tiers-0-DELETE": "on"}, "Hundred"),
    (models.Link, row(0xD2), {"profile": OTHER_PROFILE}, "https://notes.example.org/"),
    (models.FeedbackVote, {"user": ADA, "voter": OPERATOR}, {"is_like": "on"}, '"likes":2,"dislikes":1'),
]


@pytest.mark.parametrize(("model", "key", "values", "vanishes"), CHANGES)
def test_a_change_shows_at_once(
    filled: Filled, model: type[Model], key: Any, values: dict[str, Any], vanishes: str
) -> None:
    before = current()
    save(superuser(), f"{page(model)}{key_of(model, key)}/change/", **values)
    written = next(iter(values.values()))
    check(appears=written if written in SHOWN else "", vanishes=vanishes, before=before)


ADDITIONS: list[tuple[type[Model], dict[str, Any], str]] = [
    (models.Alias, {"user": ADA, "alias": "Enchantress"}, '"name":"Enchantress"'),
    (models.ProfileBadge, {"badge": "spare", "color": "#abcdef"}, "#abcdef"),
    (models.Link, {"title": NEW, "url": "https://new.example.org/"}, NEW),
    (models.Section, {"type": "CUSTOM_TEXT", "config": f'{{"content": "{NEW}"}}'}, NEW),
    (models.GalleryItem, {"caption": NEW, "section": row(0x91)}, NEW),
    (models.Game, {"id": "99", "name": NEW}, NEW),
    (models.FeedbackVote, {"user": ADA, "voter": BEN, "is_like": "on"}, '"likes":2,"dislikes":1'),
    (models.Comment, {"user": ADA, "author": BEN, "content": NEW, "is_pinned": "on"}, NEW),
    (models.Comment, {"user": ADA, "author": BEN, "content": NEW, "parent": PINNED}, '"replyCount":2'),
    (models.CommentLike, {"comment": PINNED, "user": OPERATOR}, f"{FIRST}3"),
]


@pytest.mark.parametrize(("model", "values", "appears"), ADDITIONS)
def test_an_added_row_shows_at_once(filled: Filled, model: type[Model], values: dict[str, Any], appears: str) -> None:
    browser = superuser()
    BadgeFactory(id="spare")
    if model is models.GalleryItem:
        values = values | {"asset": models.Asset.objects.get(path="gallery/97.png").pk}
    if model is models.FeedbackVote:
        delete(browser, models.FeedbackVote, {"user": ADA, "voter": BEN})
    if model in {models.ProfileBadge, models.Link, models.Section, models.GalleryItem}:
        values = values | {"profile": filled.profile.pk}
    before = current()
    save(browser, f"{page(model)}add/", **values)
    check(appears=appears, vanishes="", before=before)


def test_an_added_tier_shows_at_once(filled: Filled) -> None:
    before = current()
    fields = {"tiers-TOTAL_FORMS": "3", "tiers-2-tier": "3", "tiers-2-title": NEW, "tiers-2-image": "v3.svg"}
    url = f"{page(models.Badge)}viewer/change/"
    answer = post(superuser(), url, **fields, **{"tiers-2-threshold": "1", "tiers-2-badge": "viewer"})
    assert answer.status_code == 302, answer.context["errors"]
    check(appears=f'"title":"{NEW}"', vanishes="", before=before)


def delete(browser: Any, model: type[Model], key: Any) -> None:
    """Any: a browser of staff, and the key of the row or what it is found by."""
    url = f"{page(model)}{key_of(model, key)}/delete/"
    assert browser.post(url, {"post": "yes"}).status_code == 302


DELETIONS: list[tuple[type[Model], Any, str, str]] = [
    (models.Alias, "LOVELACE", "", '"name":"Lovelace"'),
    (models.Asset, {"path": "banners/ada.png"}, "", "banners/ada.png"),
    (models.Link, row(0xD1), "", "https://code.example.org/ada"),
    (models.Game, 12, "", "Draughts"),
    (models.FeedbackVote, {"user": ADA, "voter": BEN}, '"likes":1,"dislikes":1', ""),
    (models.Comment, PINNED, '"count":107', FIRST),
    (models.CommentLike, {"comment": PINNED, "user": BEN}, f"{FIRST}1", ""),
]


@pytest.mark.parametrize(("model", "key", "appears", "vanishes"), DELETIONS)
def test_a_deleted_row_is_gone_at_once(
    filled: Filled, model: type[Model], key: Any, appears: str, vanishes: str
) -> None:
    """From its own page, or by the action of the list."""
    before, browser = current(), superuser()
    if model in {models.Alias, models.Asset, models.Comment}:
        fields = {"action": "delete_selected", "_selected_action": key_of(model, key), "post": "yes"}
        assert browser.post(page(model), fields).status_code == 302
    else:
        delete(browser, model, key)
    check(appears=appears, vanishes=vanishes, before=before)


def test_every_model_is_in_a_table() -> None:
    written = {one[0] for one in (*CHANGES, *ADDITIONS)} | {models.BadgeTier}
    assert written == set(apps.get_app_config("lookup").get_models()) - DERIVED


@pytest.mark.parametrize("content", registry.LISTS.values(), ids=lambda content: content.name)
def test_a_list_needs_no_admin_of_its_own(content: registry.ContentList) -> None:
    for model in content.models:
        plain = ProfileContentAdmin(model, admin.site)
        assert plain.check() == []
        assert admin.site.is_registered(model)


def test_a_deleted_account_leaves_nothing_that_is_kept(filled: Filled) -> None:
    users.delete(user=filled.user, by=None)
    assert answers.user(ADA, by="id").whole == answers.user("lovelace").whole == NOT_FOUND
    kept: list[type[Model]] = [
        models.Profile,
        models.UserDocument,
        models.ProfileDocument,
        models.Comment,
        models.Asset,
    ]
    assert [model._default_manager.count() for model in kept] == [4, 4, 4, 0, 1]  # of the others, and Cleo's picture
    assert list(document_checks.differences()) == []


def test_a_rule_that_staff_give_a_badge_unlocks_it_for_whose_counters_stand_still(filled: Filled) -> None:
    badge_tiers.unlock()
    BadgeTierFactory(badge=BadgeFactory(id="late", name="Late"), threshold=2)
    save(superuser(), "/admin/lookup/badge/late/change/", rule="LIKES")
    assert badge_tiers.unlock() == 1
    assert '"name":"Late"' in current()


def test_a_badge_that_somebody_has_is_not_deleted(filled: Filled) -> None:
    held = models.ProfileBadge.objects.filter(profile=filled.profile)[0]
    answer = superuser().post(f"{page(models.Badge)}{held.badge_id}/delete/", {"post": "yes"})
    assert "would require deleting the following protected related objects" in answer.content.decode()
    assert models.Badge.objects.filter(pk=held.badge_id).exists()
