"""Every door of the admin to what lookups show, and what shows at once that somebody went through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.test import Client

from lookup.models import (
    Alias,
    Anime,
    Asset,
    Audio,
    Background,
    Badge,
    BadgeTier,
    Comment,
    CommentLike,
    CustomBadge,
    FeedbackVote,
    GalleryItem,
    Game,
    Link,
    MediaTitle,
    MusicItem,
    Profile,
    ProfileBadge,
    Project,
    Section,
    Widget,
)
from tests.factories.accounts import UserFactory
from tests.factories.lookup import BadgeFactory
from tests.lookup.admin_forms import page, post, save
from tests.lookup.filled import ADA, BEN, OPERATOR, Filled, row

Act = Callable[[Client, Filled], None]
NEW = "Written by staff"


@dataclass(frozen=True)
class Door:
    """`appears` and `vanishes`: parts of the current answer; of the earlier one too where `in_earlier`."""

    model: type[Model]
    name: str
    act: Act
    appears: str = ""
    vanishes: str = ""
    in_earlier: bool = False

    def __str__(self) -> str:
        return f"{self.model._meta.model_name}-{self.name}"


@dataclass(frozen=True)
class File:
    """Stands in a form for Ada's file with this path."""

    path: str


def add(model: type[Model], prepare: Callable[[Filled], Any] = lambda filled: None, **values: Any) -> Act:
    def act(browser: Client, filled: Filled) -> None:
        prepare(filled)
        on_profile = {"profile": filled.profile.pk} if hasattr(model, "profile_id") and model is not Alias else {}
        save(browser, f"{page(model)}add/", **on_profile, **_resolved(values))

    return act


def change(model: type[Model], pk: Any, **values: Any) -> Act:
    """Any: the key of the row, or what it is found by."""

    def act(browser: Client, filled: Filled) -> None:
        save(browser, f"{page(model)}{_key(model, pk)}/change/", **_resolved(values))

    return act


def delete(model: type[Model], pk: Any) -> Act:
    def act(browser: Client, filled: Filled) -> None:
        key = _key(model, pk)
        answer = browser.post(f"{page(model)}{key}/delete/", {"post": "yes"})
        assert answer.status_code == 302
        assert not model._default_manager.filter(pk=key).exists()

    return act


def delete_selected(model: type[Model], pk: Any) -> Act:
    """By the list's action."""

    def act(browser: Client, filled: Filled) -> None:
        key = _key(model, pk)
        fields = {"action": "delete_selected", "_selected_action": key, "post": "yes"}
        assert browser.post(page(model), fields).status_code == 302
        assert not model._default_manager.filter(pk=key).exists()

    return act


def tier(**values: Any) -> Act:
    """On the page of the badge, whose first tier is number 0 of the form."""

    def act(browser: Client, filled: Filled) -> None:
        save(browser, f"{page(Badge)}viewer/change/", **values)

    return act


def _resolved(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: Asset.objects.get(path=value.path).pk if isinstance(value, File) else value
        for name, value in values.items()
    }


def _key(model: type[Model], pk: Any) -> Any:
    return model._default_manager.get(**pk).pk if isinstance(pk, dict) else pk


def _vote(browser: Client, filled: Filled) -> None:
    add(FeedbackVote, user=ADA, voter=UserFactory().pk, is_like="on")(browser, filled)


def _move_link(browser: Client, filled: Filled) -> None:
    """To the profile of the alias."""
    save(browser, f"{page(Link)}{row(0xD2)}/change/", profile=filled.alias_profile.pk)


def _add_tier_after(browser: Client, filled: Filled) -> None:
    """The form's third tier, behind the two that there are."""
    fields = {"tiers-TOTAL_FORMS": "3", "tiers-2-tier": "3", "tiers-2-title": NEW, "tiers-2-image": "v3.svg"}
    url = f"{page(Badge)}viewer/change/"
    answer = post(browser, url, **fields, **{"tiers-2-threshold": "1", "tiers-2-badge": "viewer"})
    assert answer.status_code == 302, answer.context["errors"]


_PINNED, _FIRST = row(0x4001), '"content":"First","likeCount":'

PROFILE_DOORS = (
    Door(Profile, "change", change(Profile, {"user": ADA, "is_main": True}, description=NEW), NEW, in_earlier=True),
    Door(Alias, "add", add(Alias, user=ADA, alias="Enchantress"), '"name":"Enchantress"'),
    Door(
        Alias,
        "change",
        change(Alias, "COUNTESS", redirects=None, has_own_profile="on"),
        vanishes='"name":"Countess","redirect":true',
        in_earlier=True,
    ),
    Door(Alias, "delete_selected", delete_selected(Alias, "LOVELACE"), vanishes='"name":"Lovelace"'),
    Door(
        Asset,
        "change",
        change(Asset, {"path": "banners/ada.png"}, path="banners/new.png"),
        "banners/new.png",
        "banners/ada.png",
        in_earlier=True,
    ),
    Door(
        Asset,
        "delete_selected",
        delete_selected(Asset, {"path": "banners/ada.png"}),
        vanishes="banners/ada.png",
        in_earlier=True,
    ),
)
BADGE_DOORS = (
    Door(Badge, "change", change(Badge, "viewer", name=NEW), NEW, '"name":"Viewer"'),
    Door(BadgeTier, "add", _add_tier_after, f'"title":"{NEW}"'),
    Door(BadgeTier, "change", tier(**{"tiers-0-title": NEW}), NEW, "Hundred"),
    Door(BadgeTier, "delete", tier(**{"tiers-0-DELETE": "on"}), vanishes="Hundred"),
    Door(
        ProfileBadge,
        "add",
        add(ProfileBadge, lambda _: BadgeFactory(id="spare"), badge="spare", color="#abcdef"),
        "#abcdef",
        in_earlier=True,
    ),
    Door(ProfileBadge, "change", change(ProfileBadge, row(0xB1), color="#abcdef"), "#abcdef", in_earlier=True),
    Door(CustomBadge, "change", change(CustomBadge, row(0xB3), name=NEW), NEW, '"name":"Mine"'),
)
CONTENT_DOORS = (
    Door(Widget, "change", change(Widget, row(0xA1), identifier=NEW), NEW, "ada on chatServer"),
    Door(Audio, "change", change(Audio, row(0xC1), title=NEW), NEW, "Engine song", in_earlier=True),
    Door(Background, "change", change(Background, row(0xE2), title=NEW), NEW, "A film"),
    Door(Link, "add", add(Link, title=NEW, url="https://new.example.org/"), NEW, in_earlier=True),
    Door(Link, "delete", delete(Link, row(0xD1)), vanishes="https://code.example.org/ada", in_earlier=True),
    Door(Link, "move", _move_link, vanishes="https://notes.example.org/", in_earlier=True),
    Door(Project, "change", change(Project, row(0xF1), title=NEW), NEW, '"title":"Engine"'),
)
SECTION_DOORS = (
    Door(Section, "add", add(Section, type="CUSTOM_TEXT", config=f'{{"content": "{NEW}"}}'), NEW),
    Door(Section, "change", change(Section, row(0x94), title=NEW), NEW, '"title":"Section 4"'),
    Door(GalleryItem, "add", add(GalleryItem, caption=NEW, asset=File("gallery/97.png"), section=row(0x91)), NEW),
    Door(GalleryItem, "change", change(GalleryItem, row(0x61), caption=NEW), NEW, "Picture 97"),
    Door(Game, "add", add(Game, id="99", name=NEW), NEW),
    Door(Game, "change", change(Game, 12, name=NEW), NEW, "Draughts"),
    Door(Game, "delete", delete(Game, 12), vanishes="Draughts"),
    Door(Anime, "change", change(Anime, 21, title=NEW), NEW, "Gears"),
    Door(MediaTitle, "change", change(MediaTitle, 32, title=NEW), NEW, "Looms"),
    Door(MusicItem, "change", change(MusicItem, {"music_id": "t1"}, title=NEW), NEW, '"title":"Loom"'),
)
SOCIAL_DOORS = (
    Door(FeedbackVote, "add", _vote, '"likes":3,"dislikes":1'),
    Door(
        FeedbackVote,
        "change",
        change(FeedbackVote, {"user": ADA, "voter": OPERATOR}, is_like="on"),
        '"likes":3,"dislikes":0',
    ),
    Door(FeedbackVote, "delete", delete(FeedbackVote, {"user": ADA, "voter": BEN}), '"likes":1,"dislikes":1'),
    Door(Comment, "add", add(Comment, user=ADA, author=BEN, content=NEW, is_pinned="on"), NEW),
    Door(Comment, "reply", add(Comment, user=ADA, author=BEN, content=NEW, parent=_PINNED), '"replyCount":2'),
    Door(Comment, "delete_selected", delete_selected(Comment, _PINNED), '"count":107', _FIRST),
    Door(CommentLike, "add", add(CommentLike, comment=_PINNED, user=OPERATOR), f"{_FIRST}3"),
    Door(CommentLike, "delete", delete(CommentLike, {"comment": _PINNED, "user": BEN}), f"{_FIRST}1"),
)
DOORS = (*PROFILE_DOORS, *BADGE_DOORS, *CONTENT_DOORS, *SECTION_DOORS, *SOCIAL_DOORS)
