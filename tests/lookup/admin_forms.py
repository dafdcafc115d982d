"""The admin at the browser: forms sent back as a browser would send them, and rows of each model to open."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.apps import apps
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.test import Client

from accounts.models.users import new_id
from lookup.models import Decision, LeaderboardEntry, ProfileDocument, Report, UserDocument, Visit
from tests.factories import lookup as make
from tests.factories.accounts import StaffFactory, UserFactory

Values = dict[str, Any]  # Any: what a browser sends


def superuser() -> Client:
    """A browser signed in as a superuser."""
    client = Client()
    client.force_login(StaffFactory())
    return client


def helper(*rights: str) -> Client:
    """A browser signed in as a member of staff with these rights in the app alone."""
    user = UserFactory(is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="lookup", codename__in=rights))
    client = Client()
    client.force_login(user)
    return client


def page(model: type[Model]) -> str:
    return f"/admin/{model._meta.app_label}/{model._meta.model_name}/"


def sent(answer: Any) -> Values:
    """The values that a browser sends for the untouched form of a page; any: the test client's answer."""
    values = values_of(answer.context["adminform"].form)
    for inline in answer.context["inline_admin_formsets"]:
        values |= values_of(inline.formset.management_form)
        for form in inline.formset.forms:
            values |= values_of(form)
    return values


def values_of(form: forms.BaseForm) -> Values:
    """What a browser sends of an untouched form, hidden initial values too: by these a form with a default tells what
    was changed."""
    values: Values = {}
    for bound in form:
        names = [bound.html_name, *([bound.html_initial_name] if bound.field.show_hidden_initial else [])]
        for name in names:
            values |= _of_field(bound, name)
    return values


def _of_field(bound: forms.BoundField, name: str) -> Values:
    value = bound.value()
    if isinstance(bound.field.widget, forms.MultiWidget):
        parts = bound.field.widget.decompress(value) or ()
        return {f"{name}_{place}": part for place, part in enumerate(parts)}
    if isinstance(value, bool):
        return {name: "on"} if value else {}
    return {} if value is None else {name: value}


def post(browser: Client, url: str, /, **changes: Any) -> Any:
    """Open the form, change these fields (None: an unticked box) and send it; any: the test client's answer."""
    opened = browser.get(url)
    assert opened.status_code == 200
    values = {**sent(opened), **changes}
    return browser.post(url, {name: value for name, value in values.items() if value is not None})


def save(browser: Client, url: str, /, **changes: Any) -> None:
    answer = post(browser, url, **changes)
    assert answer.status_code == 302, dict(answer.context["adminform"].form.errors) or answer.context["errors"]


def errors(browser: Client, url: str, /, **changes: Any) -> dict[str, list[str]]:
    """The sentences of a refused form, by field."""
    answer = post(browser, url, **changes)
    assert answer.status_code == 200
    return {name: list(sentences) for name, sentences in answer.context["adminform"].form.errors.items()}


HASH = "c0ffee" * 10
NOON = datetime(2025, 3, 1, 12, tzinfo=UTC)
# Rendered, ranked or counted.
READ_ONLY: set[type[Model]] = {UserDocument, ProfileDocument, LeaderboardEntry, Report, Decision, Visit}


def model_of(name: str) -> type[Model]:
    return apps.get_model("lookup", name)


def entry() -> LeaderboardEntry:
    user = UserFactory()
    return LeaderboardEntry.objects.create(board="views", rank=user.uid, user=user, score=1)


def decision() -> Decision:
    return Decision.objects.create(user=UserFactory(), kind="FILE", thing=new_id(), title="a.png", reason="SPAM")


def visit() -> Visit:
    return Visit.objects.create(user=UserFactory(), visitor=HASH, counted_at=NOON)


def alias() -> Model:
    user = UserFactory()
    return make.AliasRowFactory(name__user=user, profile=make.ProfileFactory(user=user))


def picture() -> Model:
    profile = make.main_profile(UserFactory())
    section = make.SectionFactory(profile=profile, type="GALLERY", config={})
    picture: Model = make.GalleryItemFactory(profile=profile, section=section)
    return picture


def link() -> Model:
    profile = make.main_profile(UserFactory())
    link: Model = make.LinkFactory(profile=profile, icon=make.AssetFactory(owner=profile.user))
    return link


def reply() -> Model:
    parent = make.CommentFactory()
    return make.CommentFactory(user=parent.user, parent=parent)


MAKE: dict[str, Callable[[], Model]] = {
    "alias": alias,
    "anime": make.AnimeFactory,
    "asset": make.AssetFactory,
    "audio": make.AudioFactory,
    "background": make.BackgroundFactory,
    "badge": make.BadgeFactory,
    "comment": reply,
    "commentlike": make.CommentLikeFactory,
    "custombadge": make.CustomBadgeFactory,
    "feedbackvote": make.FeedbackVoteFactory,
    "galleryitem": picture,
    "game": make.GameFactory,
    "leaderboardentry": entry,
    "link": link,
    "mediatitle": make.MediaTitleFactory,
    "musicitem": make.MusicItemFactory,
    "profile": make.ProfileFactory,
    "profilebadge": make.ProfileBadgeFactory,
    "profiledocument": lambda: ProfileDocument.objects.get(user=UserFactory()),
    "project": make.ProjectFactory,
    "report": make.ReportFactory,
    "decision": decision,
    "section": make.SectionFactory,
    "userdocument": lambda: UserDocument.objects.get(user=UserFactory()),
    "visit": visit,
    "widget": make.WidgetFactory,
}
