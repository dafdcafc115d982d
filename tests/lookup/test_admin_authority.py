"""Rights in the admin: only superusers change what belongs to staff accounts."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.contrib.admin import site
from django.db.models import Model
from django.test import Client

from accounts.admin.audited_admin import AuditedAdmin
from accounts.models import User
from lookup.models import Alias, Comment, CommentLike, Profile, Widget
from tests.factories import lookup as make
from tests.factories.accounts import StaffFactory, UserFactory
from tests.lookup.admin_forms import MAKE, helper, page, post, save, sent, superuser

pytestmark = pytest.mark.django_db


@pytest.fixture
def profile(db: None) -> Profile:
    return make.main_profile(UserFactory())


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
