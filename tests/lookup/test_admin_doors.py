"""What the admin refuses, what it leaves in the audit trail, and that only superusers change what belongs to staff."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db.models import Model
from django.test import Client

from accounts.admin.audited_admin import AuditedAdmin
from accounts.models import AuditEvent, User
from lookup import models
from lookup.models import Alias, Comment, CommentLike, Profile, Widget
from tests.factories import lookup as make
from tests.factories.accounts import StaffFactory, UserFactory
from tests.lookup.admin_forms import MAKE, errors, helper, page, post, save, sent, superuser

pytestmark = pytest.mark.django_db

FOREIGN = ["This file belongs to another user."]
NOT_BOTH = ["Give one of the two, not both."]


@pytest.fixture
def profile(db: None) -> models.Profile:
    return make.main_profile(UserFactory(username="Ada"))


@pytest.fixture
def foreign(db: None) -> models.Asset:
    return make.AssetFactory()


@pytest.mark.parametrize(
    ("model", "field", "values"),
    [
        (models.Audio, "audio", {"title": "x"}),
        (models.Audio, "cover", {"title": "x"}),
        (models.Link, "icon", {"url": "https://a.example/"}),
        (models.Project, "icon", {"title": "x"}),
        (models.CustomBadge, "image", {}),
        (models.GalleryItem, "asset", {}),
    ],
    ids=str,
)
def test_a_file_of_another_user_is_refused(
    profile: models.Profile, foreign: models.Asset, model: type[Model], field: str, values: dict[str, str]
) -> None:
    own = make.AssetFactory(owner=profile.user)
    needed = {"audio": own.pk} if model is models.Audio and field != "audio" else {}
    url = f"{page(model)}add/"
    given = {"profile": profile.pk, **values, **needed}
    assert errors(superuser(), url, **given, **{field: foreign.pk}) == {field: FOREIGN}
    save(superuser(), url, **given, **{field: own.pk})


def test_a_profile_shows_no_file_of_another_user(profile: models.Profile, foreign: models.Asset) -> None:
    url = f"{page(models.Profile)}{profile.pk}/change/"
    assert errors(superuser(), url, avatar=foreign.pk) == {"avatar": FOREIGN}


@pytest.mark.parametrize(
    ("model", "files", "values"),
    [(models.CustomBadge, "image", {}), (models.Link, "icon", {"url": "https://a.example/"})],
    ids=["custom-badge", "link"],
)
def test_a_file_and_a_drawing_exclude_each_other(
    profile: models.Profile, model: type[Model], files: str, values: dict[str, str]
) -> None:
    own = make.AssetFactory(owner=profile.user)
    given = {"profile": profile.pk, files: own.pk, "icon_svg": make.SVG, **values}
    assert errors(superuser(), f"{page(model)}add/", **given) == {"icon_svg": NOT_BOTH}


SECTION = {"type": "CUSTOM_TEXT", "config": "{}"}
ABOUT_ME = '{"skills": {"custom": [{"label": "", "iconSvg": "<b/>"}]}}'
REFUSED: list[tuple[type[Model], dict[str, Any], dict[str, list[str]]]] = [
    (models.Link, {"url": "javascript:alert(1)"}, {"__all__": ["Enter a valid URL."]}),
    (
        models.Link,
        {"url": "https://a.example/", "icon_svg": "<b/>"},
        {"icon_svg": ["The outermost element must be svg."]},
    ),
    (models.Project, {"title": "x", "tags": '["a", ""]'}, {"tags": ["Entry 2: Must not be empty."]}),
    (
        models.Project,
        {"title": "x", "tags": str(["a"] * 21).replace("'", '"')},
        {"tags": ["Has 21 entries; at most 20 are allowed."]},
    ),
    (models.Project, {"title": "x", "tags": "{"}, {"tags": ["Enter a valid JSON."]}),
    (
        models.Section,
        {"type": "ABOUT_ME", "config": ABOUT_ME},
        {
            "config": [
                "skills.custom.0.label: Must not be empty.",
                "skills.custom.0.iconSvg: The outermost element must be svg.",
            ]
        },
    ),
    (models.Section, {**SECTION, "config": '{"a": {}, "b": 1}'}, {"config": ["a: Unknown name.", "b: Unknown name."]}),
]


@pytest.mark.parametrize(("model", "values", "expected"), REFUSED)
def test_what_no_profile_may_hold_is_a_form_error(
    profile: models.Profile, model: type[Model], values: dict[str, Any], expected: dict[str, list[str]]
) -> None:
    assert errors(superuser(), f"{page(model)}add/", profile=profile.pk, **values) == expected
    assert not model._default_manager.exists()
    assert not AuditEvent.objects.exists()


def test_settings_are_validated_by_path_and_stored_as_what_differs(profile: models.Profile) -> None:
    browser, url = superuser(), f"{page(models.Profile)}{profile.pk}/change/"
    wrong = '{"cardSettings": {"blur": "much"}, "what": 1}'
    assert errors(browser, url, settings=wrong) == {
        "settings": ["cardSettings.blur: Must be a number.", "what: Unknown setting."]
    }
    save(browser, url, settings='{"cardSettings": {"blur": 7}, "linksSettings": {"enabled": true}}')
    profile.refresh_from_db()
    assert profile.settings == {"cardSettings": {"blur": 7}}
    save(browser, url, settings="")
    profile.refresh_from_db()
    assert profile.settings == {}


def test_an_empty_configuration_is_completed(profile: models.Profile) -> None:
    save(superuser(), f"{page(models.Section)}add/", profile=profile.pk, type="GAMES", config="")
    assert models.Section.objects.get().config == {"gameIds": []}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"unlocked_tiers": "[1, 3]"}, {"unlocked_tiers": ["The badge has no tier 3."]}),
        ({"unlocked_tiers": "[true]"}, {"unlocked_tiers": ["Must be a list of tiers, such as [1, 2]."]}),
        (
            {"unlocked_tiers": "[1]", "selected_tier": "2"},
            {"selected_tier": ["Choose one of the unlocked tiers."]},
        ),
        ({"unlocked_tiers": "[2, 1, 2]", "selected_tier": "2"}, {}),
        ({"unlocked_tiers": ""}, {}),
    ],
)
def test_tiers_are_those_of_the_badge(
    profile: models.Profile, values: dict[str, str], expected: dict[str, list[str]]
) -> None:
    badge = make.BadgeFactory()
    for tier in (1, 2):
        make.BadgeTierFactory(badge=badge, tier=tier)
    given = {"profile": profile.pk, "badge": badge.pk, **values}
    answer = post(superuser(), f"{page(models.ProfileBadge)}add/", **given)
    assert (answer.context["adminform"].form.errors if answer.status_code == 200 else {}) == expected
    held = list(models.ProfileBadge.objects.values_list("unlocked_tiers", flat=True))
    assert held == ([] if expected else [[1, 2] if values["unlocked_tiers"] else []])


def test_a_picture_stands_in_a_gallery_of_its_own_profile(profile: models.Profile) -> None:
    browser, url = superuser(), f"{page(models.GalleryItem)}add/"
    text = make.SectionFactory(profile=profile)
    gallery = make.SectionFactory(profile=profile, type="GALLERY", config={})
    other = make.SectionFactory(type="GALLERY", config={})
    given = {"profile": profile.pk, "asset": make.AssetFactory(owner=profile.user).pk}
    assert errors(browser, url, **given, section=text.pk) == {"section": ["This section is not a gallery."]}
    assert errors(browser, url, **given, section=other.pk) == {"section": ["This section belongs to another profile."]}
    save(browser, url, **given, section=gallery.pk)
    change = f"{page(models.Section)}{gallery.pk}/change/"
    sentence = ["It has pictures: remove them first."]
    assert errors(browser, change, type="CUSTOM_TEXT") == {"type": sentence}
    assert errors(browser, change, profile=other.profile_id) == {"profile": sentence}


@pytest.mark.parametrize(
    ("alias", "sentence"),
    [
        ("ADA", "This name is already taken."),
        ("Admin", "This name is reserved."),
        ("a b", "Use 1 to 32 letters, digits, dots, hyphens or underscores (A-Z, a-z, 0-9, . _ -)."),
    ],
)
def test_an_alias_is_a_name_of_the_one_namespace(profile: models.Profile, alias: str, sentence: str) -> None:
    given = {"user": profile.user_id, "alias": alias}
    assert errors(superuser(), f"{page(models.Alias)}add/", **given) == {"alias": [sentence]}


def test_a_comment_is_written_by_the_rules(profile: models.Profile) -> None:
    browser, url = superuser(), f"{page(models.Comment)}add/"
    author, parent = UserFactory(), make.CommentFactory(user=profile.user)
    reply = make.CommentFactory(user=profile.user, parent=parent)
    given = {"user": profile.user_id, "author": author.pk, "content": "x"}
    sentence = ["Reply to a comment on this profile."]
    assert errors(browser, url, **given, parent=reply.pk) == {"parent": sentence}
    assert errors(browser, url, **given, parent=make.CommentFactory().pk) == {"parent": sentence}
    pinned = {"is_pinned": ["A reply cannot be pinned."]}
    assert errors(browser, url, **given, parent=parent.pk, is_pinned="on") == pinned
    assert errors(browser, f"{page(models.Comment)}{reply.pk}/change/", is_pinned="on") == pinned
    User.objects.filter(pk=author.pk).update(is_active=False)
    assert errors(browser, url, **given) == {"author": ["This account is banned."]}


def test_staff_change_and_unpin_a_comment(profile: models.Profile) -> None:
    comment = make.CommentFactory(user=profile.user, content="Before", is_pinned=True)
    save(superuser(), f"{page(models.Comment)}{comment.pk}/change/", content="After", is_pinned=None)
    comment.refresh_from_db()
    assert (comment.content, comment.is_pinned) == ("After", False)


def test_a_vote_is_given_by_the_rules(profile: models.Profile) -> None:
    browser, url = superuser(), f"{page(models.FeedbackVote)}add/"
    own = errors(browser, url, user=profile.user_id, voter=profile.user_id)
    assert own == {"voter": ["Users cannot vote on their own profile."]}
    banned = UserFactory(is_active=False)
    assert errors(browser, url, user=profile.user_id, voter=banned.pk) == {"voter": ["This account is banned."]}
    given = make.FeedbackVoteFactory(user=profile.user)
    twice = errors(browser, url, user=profile.user_id, voter=given.voter_id)
    assert twice == {"__all__": ["Feedback vote with this User and Voter already exists."]}


def test_the_audit_trail_says_who_did_what_to_whose_profile_and_not_what_it_says(profile: models.Profile) -> None:
    browser, link = superuser(), make.LinkFactory(profile=profile)
    url = f"{page(models.Link)}{link.pk}/"
    save(browser, f"{url}change/", title="Some title")
    browser.post(f"{url}delete/", {"post": "yes"})
    events = AuditEvent.objects.order_by("pk").values_list("verb", "actor_kind", "object_id", "data")
    row = {"model": "lookup.link", "id": link.pk}
    assert list(events) == [
        ("profile:content_changed", "STAFF", profile.user_id, {**row, "act": "changed", "changed": ["title"]}),
        ("profile:content_changed", "STAFF", profile.user_id, {**row, "act": "deleted"}),
    ]


def test_a_row_that_moves_to_another_user_is_recorded_for_both(profile: models.Profile) -> None:
    other = make.main_profile(UserFactory())
    widget = make.WidgetFactory(profile=profile)
    save(superuser(), f"{page(models.Widget)}{widget.pk}/change/", profile=other.pk)
    assert set(AuditEvent.objects.values_list("object_id", flat=True)) == {profile.user_id, other.user_id}
    profile.document.refresh_from_db()
    assert (profile.document.widgets, widget.identifier in other.document.widgets) == ("[]", True)


def test_a_change_of_a_catalogue_is_recorded_for_the_entry() -> None:
    game = make.GameFactory()
    save(superuser(), f"{page(models.Game)}{game.pk}/change/", name="Go")
    event = AuditEvent.objects.get()
    assert (event.verb, event.object_type, event.object_id) == ("catalogue:changed", "lookup.game", str(game.pk))


def test_a_selection_is_deleted_with_replies_that_go_with_their_comment(profile: models.Profile) -> None:
    comment = make.CommentFactory(user=profile.user)
    reply = make.CommentFactory(user=profile.user, parent=comment)
    make.shown(profile.user)
    assert models.UserDocument.objects.get(user=profile.user).comments == 1
    fields = {"action": "delete_selected", "_selected_action": [comment.pk, reply.pk], "post": "yes"}
    assert superuser().post(page(models.Comment), fields).status_code == 302
    assert not models.Comment.objects.exists()
    assert models.UserDocument.objects.get(user=profile.user).comments == 0


def _rights(name: str) -> tuple[str, ...]:
    return (f"add_{name}", f"change_{name}", f"delete_{name}", f"view_{name}")


def _delete(browser: Client, model: type[Model], row: Model) -> int:
    return browser.post(f"{page(model)}{row.pk}/delete/", {"post": "yes"}).status_code


def test_what_belongs_to_staff_is_for_superusers(profile: Profile) -> None:
    browser, chief = helper(*_rights("widget"), "view_profile"), StaffFactory()
    theirs, mine = make.WidgetFactory(profile=make.main_profile(chief)), make.WidgetFactory(profile=profile)
    assert browser.post(f"{page(Widget)}{theirs.pk}/change/", {}).status_code == 403
    assert _delete(browser, Widget, theirs) == 403
    both = {"action": "delete_selected", "_selected_action": [theirs.pk, mine.pk], "post": "yes"}
    assert browser.post(page(Widget), both).status_code == 403
    moved = post(browser, f"{page(Widget)}{mine.pk}/change/", profile=theirs.profile_id)
    assert moved.status_code == 403
    given = {"profile": theirs.profile_id, "platform": "p", "type": "t", "identifier": "i"}
    assert post(browser, f"{page(Widget)}add/", **given).status_code == 403
    assert set(Widget.objects.values_list("pk", "profile")) == {
        (theirs.pk, theirs.profile_id),
        (mine.pk, profile.pk),
    }
    save(browser, f"{page(Widget)}{mine.pk}/change/", identifier="changed")
    assert _delete(browser, Widget, mine) == 302


OF_STAFF = ("asset", "feedbackvote", "galleryitem", "link", "profile", "profilebadge")


@pytest.mark.parametrize("name", OF_STAFF)
def test_no_helper_writes_on_a_profile_of_staff(name: str) -> None:
    """Neither by the forms, nor by the list's action, nor by posting what a superuser's form would send."""
    made, model = MAKE[name](), apps.get_model("lookup", name)
    doors = site.get_model_admin(model)
    assert isinstance(doors, AuditedAdmin)
    owner = doors.owners_of(made)[0]
    chief, helpful = superuser(), helper(*_rights(name), "view_user", "view_profile", "view_asset")
    before = list(model._default_manager.values())
    url = f"{page(model)}{made.pk}/"
    assert helpful.get(f"{url}change/").context["adminform"].form.fields != {}
    User.objects.filter(pk=owner.pk).update(is_staff=True)
    assert helpful.get(f"{url}change/").context["adminform"].form.fields == {}
    as_superuser = sent(chief.get(f"{url}change/"))
    assert helpful.post(f"{url}change/", as_superuser).status_code == 403
    assert helpful.post(f"{url}delete/", {"post": "yes"}).status_code == 403
    selected = {"action": "delete_selected", "_selected_action": made.pk, "post": "yes"}
    assert helpful.post(page(model), selected).status_code == (200 if name == "profile" else 403)
    assert helpful.post(f"{page(model)}add/", as_superuser).status_code in {200, 403}  # 200: it is there already
    assert list(model._default_manager.values()) == before


def test_a_helper_neither_speaks_for_staff_nor_changes_their_words_but_may_take_them_away(profile: Profile) -> None:
    rights = (*_rights("comment"), *_rights("commentlike"), "view_user")
    browser, chief = helper(*rights), StaffFactory()
    comment = make.CommentFactory(user=profile.user, author=chief)
    like = CommentLike.objects.create(comment=comment, user=StaffFactory())
    assert browser.post(f"{page(Comment)}{comment.pk}/change/", {}).status_code == 403
    given = {"user": profile.user_id, "author": chief.pk, "content": "x"}
    assert post(browser, f"{page(Comment)}add/", **given).status_code == 403
    assert _delete(browser, CommentLike, like) == 302
    assert _delete(browser, Comment, comment) == 302
    assert not Comment.objects.exists()


def test_a_helper_does_not_name_staff(profile: Profile) -> None:
    browser, chief = helper(*_rights("alias")), StaffFactory()
    theirs = make.AliasRowFactory(name__user=chief)
    assert post(browser, f"{page(Alias)}add/", user=chief.pk, alias="Boss").status_code == 403
    assert browser.post(f"{page(Alias)}{theirs.pk}/change/", {}).status_code == 403
    assert _delete(browser, Alias, theirs) == 403
    save(browser, f"{page(Alias)}add/", user=profile.user_id, alias="Countess")
    assert set(Alias.objects.values_list("pk", flat=True)) == {theirs.pk, "COUNTESS"}
