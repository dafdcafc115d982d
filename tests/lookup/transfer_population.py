"""Users with everything that a lookup can say of them, for the tests of export and import."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.http import QueryDict
from django.utils import timezone

from accounts import bans
from accounts.models import LinkedAccount, UidCounter, User
from accounts.plans import Plan
from lookup.models import Alias, Anime, Badge, Comment, Game, MediaTitle, MusicItem, Profile, UserDocument
from lookup.openapi import INCLUDES
from lookup.views import current
from tests.factories import lookup as make
from tests.factories.accounts import LinkedAccountFactory, UserFactory

SVG = make.SVG
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
SKILLS = {"frontend": ["Svelte"], "custom": [{"label": "Knots", "iconName": "rope", "iconSvg": SVG}]}


def populate() -> dict[str, User]:
    """Ada with everything, Ben who mirrors his picture, Cleo without anything, Dora who is banned and Eve who turned
    public API access off; and twelve people who comment."""
    people = {name.lower(): UserFactory(username=name, email="") for name in ("Ada", "Ben", "Cleo", "Dora", "Eve")}
    ada, ben = people["ada"], people["ben"]
    fill(ada)
    mirror(ben)
    commenters = [UserFactory(email="", display_name="Wer «é»" if place % 2 else "") for place in range(12)]
    picture = make.AssetFactory(owner=commenters[0], path="avatars/0.png", width=None, height=None)
    Profile.objects.filter(user=commenters[0]).update(avatar=picture)
    comment(ada, [*commenters, people["dora"], ben])
    for voter in [*commenters, people["dora"]]:
        make.FeedbackVoteFactory(user=ada, voter=voter, is_like=voter.uid % 3 > 0)
    make.shown(*people.values(), *commenters)
    UserDocument.objects.filter(pk=ada.pk).update(views=123_456)
    bans.ban(user=people["dora"], by=None, reason="A test.")
    bans.ban(user=commenters[5], by=None, reason="A test.")
    User.objects.filter(username="Eve").update(public_api_access=False)
    return people


def fill(user: User) -> None:
    """Every include and every type of section."""
    User.objects.filter(pk=user.pk).update(
        display_name="Ada ✨ Example", plan=Plan.IMAGEHOST, is_verified=True, is_inactive=True, created_at=NOON
    )
    LinkedAccountFactory(user=user, external_id="80351110224678912", name="ada#1")
    LinkedAccountFactory(user=user, kind=LinkedAccount.Kind.SCROBBLER, external_id="Ada-FM", name="Ada-FM")
    profile = make.main_profile(user)
    profile.name, profile.display_name, profile.description = "Main", "Ada", 'Two\nlines, "quotes" and \u2028.'
    for place, name in enumerate(Profile.ASSETS):
        setattr(profile, name, make.AssetFactory(owner=user, path=f"ada/{name}.png", duration=place / 2 or None))
    profile.settings = {"cardSettings": {"blur": 12.5, "opacity": 90}, "typewriterSettings": {"descriptions": ["Hi"]}}
    profile.updated_at = NOON + timedelta(days=1)
    profile.save()
    badges(profile)
    contents(profile)
    sections(profile)
    make.AliasRowFactory(name__user=user, name__name="Zeta", redirects=False)
    shown = make.ProfileFactory(user=user, name="Other")
    make.AliasRowFactory(name__user=user, name__name="Countess", redirects=False, profile=shown)


def mirror(user: User) -> None:
    profile = make.main_profile(user)
    profile.settings = {"avatarSettings": {"mirrorChat": True}}
    profile.save()
    make.BadgeFactory(id="champion", catalog="special")
    make.ProfileBadgeFactory(profile=profile, badge_id="champion", color="#abc")


def badges(profile: Profile) -> None:
    tiered = make.BadgeFactory(id="views", name="Views")
    for tier in (1, 2, 3):
        make.BadgeTierFactory(badge=tiered, tier=tier, threshold=100.5 * tier, color="" if tier == 1 else "#1b5e4b")
    make.ProfileBadgeFactory(profile=profile, badge=tiered, selected_tier=2, unlocked_tiers=[2, 1], order=1)
    make.ProfileBadgeFactory(profile=profile, is_enabled=False, recolor=True, order=1)
    make.CustomBadgeFactory(profile=profile, color="#11223344", order=0)
    image = make.AssetFactory(owner=profile.user, path="ada/badge.webp", mime="image/webp")
    make.CustomBadgeFactory(profile=profile, icon_svg="", image=image, name="", order=2)


def contents(profile: Profile) -> None:
    owner = profile.user
    for order in (0, 1, 1):
        make.WidgetFactory(profile=profile, order=order)
    cover = make.AssetFactory(owner=owner, path="ada/cover.png")
    sound = make.AssetFactory(
        owner=owner, path="ada/song.mp3", mime="audio/mpeg", width=None, height=None, duration=2.5
    )
    make.AudioFactory(profile=profile, audio=sound, cover=cover, external_url="https://songs.example/1?a=b", order=0)
    make.AudioFactory(profile=profile, order=1)
    make.AudioFactory(profile=profile, is_active=False)
    make.BackgroundFactory(profile=profile)
    make.BackgroundFactory(profile=profile, title="", is_active=False)
    make.LinkFactory(profile=profile, platform_id="site", platform_type="web", color="#fff", icon_svg=SVG, clicks=7)
    make.LinkFactory(profile=profile, icon=cover, recolor=True)
    make.LinkFactory(profile=profile, url="some text", is_text=True)
    make.LinkFactory(profile=profile, is_active=False)
    make.ProjectFactory(profile=profile, tags=["one", "two"], icon=cover, description="A\ttab")
    make.ProjectFactory(profile=profile, url="")


def sections(profile: Profile) -> None:
    """All nine types, a second gallery, a disabled one, and a configuration that is no longer valid."""
    widget, project = profile.widgets.order_by("pk")[0], profile.projects.order_by("pk")[0]
    make.GameFactory(id=7, name="A game", released=date(1999, 12, 31), rating=4.5, metacritic=91, slug="a-game")
    make.GameFactory(id=8)
    make.AnimeFactory(id=7, format="TV", year=2001, score=8.0)
    make.MediaTitleFactory(id=7, year=1979, rating=8.5)
    for kind in ("track", "album", "artist"):
        make.MusicItemFactory(kind=kind, music_id="m1", artist="Somebody", album="Something")
    about = {"content": "**Hi**", "widgetIds": [widget.pk], "skillsAlignment": "right", "skillsEnabled": False}
    empty: dict[str, list[str]] = {
        name: [] for name in "backend database core game tools cloud mobile design music".split()
    }
    configs: list[tuple[str, dict[str, Any]]] = [
        ("ABOUT_ME", {**about, "skills": {**empty, **SKILLS}}),
        ("PROJECTS", {"projectIds": [project.pk]}),
        ("CUSTOM_TEXT", {"content": "Text"}),
        ("GALLERY", {}),
        ("AUDIO_PLAYER", {}),
        ("GAMES", {"gameIds": [8, 7]}),
        ("ANIME", {"animeIds": [7]}),
        ("MEDIA", {"mediaIds": [7]}),
        ("MUSIC", {"music": [{"kind": kind, "musicId": "m1"} for kind in ("artist", "track", "album")]}),
        ("GALLERY", {}),
    ]
    made = [
        make.SectionFactory(profile=profile, type=type_, config=config, order=order // 2, alignment="center")
        for order, (type_, config) in enumerate(configs)
    ]
    hidden = make.SectionFactory(profile=profile, type="GALLERY", config={}, is_enabled=False, order=50)
    make.SectionFactory(profile=profile, config={"content": 5})
    for section in (made[9], made[3], None, made[3], made[9], None, hidden):
        make.GalleryItemFactory(profile=profile, section=section, width="quad", caption="")


def comment(user: User, authors: list[User]) -> None:
    """130 comments, many of them at the same moment, with likes and replies, also of people who will be banned."""
    for place in range(130):
        written = make.CommentFactory(
            user=user,
            author=authors[place % len(authors)],
            created_at=NOON + timedelta(seconds=place // 4, microseconds=300 - place),
            is_pinned=place in {3, 40},
        )
        if place % 9 == 0:
            make.CommentLikeFactory(comment=written, user=authors[0])
            make.CommentLikeFactory(comment=written, user=authors[5])
            make.CommentFactory(user=user, author=authors[5], parent=written)
            make.CommentFactory(user=user, author=authors[1], parent=written)


def wipe() -> None:
    """A fresh database, the catalogues empty too."""
    for model in (User, Badge, Game, Anime, MediaTitle, MusicItem, UidCounter):
        model._default_manager.all().delete()
    assert not Comment.objects.exists()
    assert not Alias.objects.exists()


def export(*options: str) -> str:
    out = io.StringIO()
    call_command("export_profiles", *options, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def lines_of(text: str) -> list[str]:
    """`splitlines` would end a line at characters that JSON leaves inside of strings."""
    return text.removesuffix("\n").split("\n")


def exported(*options: str) -> dict[str, dict[str, Any]]:
    """Lines by username."""
    lines = [json.loads(line) for line in lines_of(export(*options))]
    return {line["user"]["username"]: line for line in lines}


def load(text: str | bytes, directory: Path, *options: str) -> tuple[str, str]:
    """Import the text; what was said on standard output and on standard error. CommandError where a line was refused,
    with what was said on standard error."""
    path = directory / "profiles.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    out, err = io.StringIO(), io.StringIO()
    call_command("import_profiles", str(path), *options, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def refusal(text: str | bytes, directory: Path, *options: str) -> list[str]:
    """What is said on standard error where a file is refused."""
    path = directory / "profiles.jsonl"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    err = io.StringIO()
    with pytest.raises(CommandError):
        call_command("import_profiles", str(path), *options, stdout=io.StringIO(), stderr=err)
    return err.getvalue().splitlines()


def answer(user_id: str) -> bytes:
    """The lookup with all of its includes."""
    query = QueryDict(mutable=True)
    query.update({"type": "id", "value": user_id, **dict.fromkeys(INCLUDES, "true")})
    return current.answer(query, timezone.now())


def looked_up(user_id: str) -> dict[str, Any]:
    return dict(json.loads(answer(user_id)))
