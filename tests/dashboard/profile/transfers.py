"""A profile with something in every list, and its file sent through the pages."""

from __future__ import annotations

import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from lookup.editing import profiles
from lookup.models import Profile, UserDocument
from tests.factories.lookup import (
    AliasRowFactory,
    AssetFactory,
    AudioFactory,
    BackgroundFactory,
    BadgeTierFactory,
    CommentFactory,
    CustomBadgeFactory,
    FeedbackVoteFactory,
    GalleryItemFactory,
    GameFactory,
    LinkFactory,
    ProfileBadgeFactory,
    ProfileFactory,
    ProjectFactory,
    SectionFactory,
    WidgetFactory,
    shown,
)

Json = dict[str, Any]  # Any: a JSON value
PAGE = "/dashboard/profile/transfer/"


def fill(profile: Profile) -> None:
    """Something in every list, hidden rows too."""
    user = profile.user
    tier = BadgeTierFactory.create(badge__id="explorer", tier=1)
    BadgeTierFactory.create(badge=tier.badge, tier=2)
    ProfileBadgeFactory.create(profile=profile, badge=tier.badge, unlocked_tiers=[1], selected_tier=1)
    ProfileBadgeFactory.create(profile=profile, badge__id="founder")
    CustomBadgeFactory.create(profile=profile)
    LinkFactory.create_batch(2, profile=profile)
    LinkFactory.create(profile=profile, title="Switched off", is_active=False)
    WidgetFactory.create(profile=profile)
    AudioFactory.create(profile=profile)
    BackgroundFactory.create(profile=profile)
    ProjectFactory.create(profile=profile, tags=["a", "b"])
    SectionFactory.create(profile=profile, config={"content": "Hello"})
    SectionFactory.create(profile=profile, type="GAMES", config={"gameIds": [GameFactory.create(id=7).pk]})
    gallery = SectionFactory.create(profile=profile, type="GALLERY", config={})
    GalleryItemFactory.create(profile=profile, section=gallery)
    AliasRowFactory.create(name__user=user, name__name="Ally", profile=ProfileFactory.create(user=user))
    CommentFactory.create(user=user)
    FeedbackVoteFactory.create(user=user)
    avatar = AssetFactory.create(owner=user, path=f"{user.pk}/me.png")
    profiles.change(profile=profile, values={"avatar": avatar, "location": "London"}, by=user)
    shown(user)
    UserDocument.objects.filter(pk=user.pk).update(views=41)


def load(client: Client, line: Any) -> Any:
    """Send the file, look, and confirm; the last response."""
    checked = check(client, line)
    return checked if "problems" in checked.context else confirm(client, checked)


def check(client: Client, line: Any) -> Any:
    text = line if isinstance(line, bytes) else json.dumps(line).encode()
    return client.post(f"{PAGE}check/", {"file": SimpleUploadedFile("me.json", text)})


def confirm(client: Client, checked: Any) -> Any:
    """Send the form of the page that shows the changes."""
    form = checked.context["form"]
    sent = {name: form[name].value() for name in ("text", "digest")}
    return client.post(f"{PAGE}import/", sent, follow=True)


def problems(response: Any) -> dict[str, str]:
    """Of a file that was refused, by path. `response`: Django's, untyped."""
    return dict(response.context["problems"])
