"""Finding apps and people, by everything that staff may have at hand, and by hostile text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.utils import timezone

from accounts import users
from accounts.models import User
from dashboard.staff import queries as staff_queries
from lookup.documents import documents
from lookup.models import Profile
from oidc_provider.models import Application
from tests.dashboard.staff.pages import APPS, PEOPLE, cost_of
from tests.factories.accounts import AliasFactory, LinkedAccountFactory, UserFactory
from tests.factories.imagehost import FileFactory
from tests.factories.lookup import AssetFactory, ProfileFactory, main_profile
from tests.factories.oidc_provider import ApplicationFactory, ApprovalFactory, SuspendedApplicationFactory
from tests.pages.markup import problems_of
from tests.support.browser import Browser

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Browser]
HOUR = timedelta(hours=1)
HOSTILE = ["%", "_", "'", "\\", "ß", "\U0001f600", "9" * 30, "-1", "٣", "x" * 255, "@", "a%", "\u0301"]


def found(browser: Browser, page: str, term: str, **filters: str) -> list[str]:
    """The names of the rows that a search shows."""
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    browser.open(f"{page}?q={quote(term)}&{query}")
    assert browser.response.status_code == 200
    return [link.text for link in browser.page.xpath("//span[@class='row__title']/a")]


def test_people_are_found_by_name_alias_number_id_address_and_chat_id(staff: Browser) -> None:
    ada = UserFactory(username="AdaLovelace", email="ada@example.org")
    for alias in ("Countess", "AdaToo"):
        AliasFactory(user=ada, name=alias)
    LinkedAccountFactory(user=ada, external_id="80351110224678912")
    users.set_display_name(user=ada, name="Zoë of the Mill", by=ada)
    ProfileFactory(user=ada, display_name="The Analyst")
    LinkedAccountFactory(user=UserFactory(), kind="SCROBBLER", external_id="scrobbling")
    terms = ["AdaLovelace", "adal", " adaLOVE ", "countess", "COUNT", str(ada.uid), ada.pk, ada.pk.upper()]
    terms += ["@adaLovelace", "http://127.0.0.1:8000/Countess", "id.example/adalovelace/?from=mail#links"]
    terms += ["zoe", "ZOË OF", "the anal"]
    for term in [*terms, "ada@example.org", "Ada@Example.org", "80351110224678912"]:
        assert found(staff, PEOPLE, term) == ["AdaLovelace"], term
    for term in ["lovelace", "ada@example", "8035111022467891", ada.pk[:31], "scrobbling", str(ada.uid) + "0"]:
        assert found(staff, PEOPLE, term) == [], term
    assert "No users match" in staff.text


def test_the_first_person_has_the_number_0(sign_in: SignIn) -> None:
    first = UserFactory(username="First")
    assert first.uid == 0
    browser = sign_in(superuser=True)
    assert found(browser, PEOPLE, "0") == ["First"]
    assert "uid 0" in browser.text
    assert "uid 0" in browser.open(f"{PEOPLE}{first.pk}/").text


def test_people_are_distinguished_by_their_standing(staff: Browser) -> None:
    UserFactory(username="Banned", is_active=False, banned_at=timezone.now())
    UserFactory(username="Helper", is_staff=True)
    UserFactory(username="Radia", is_superuser=True)  # no form makes one who is not staff, too
    UserFactory(username="Known", unlocked_scopes=["email"])
    assert found(staff, PEOPLE, "", standing="BANNED") == ["Banned"]
    assert found(staff, PEOPLE, "", standing="STAFF")[:2] == ["Radia", "Helper"]
    assert "Known" not in found(staff, PEOPLE, "", standing="STAFF")
    assert found(staff, PEOPLE, "", standing="UNLOCKED") == ["Known"]
    assert found(staff, PEOPLE, "known", standing="BANNED") == []
    assert len(found(staff, PEOPLE, "")) == 5


def test_apps_are_found_by_client_id_name_and_owner(staff: Browser) -> None:
    owner = UserFactory(username="Ada", email="ada@example.org")
    app = ApplicationFactory(user=owner, name="Notes 50%")
    ApplicationFactory(name="Other")
    terms = [app.client_id, "notes", "50%", "Ada", "ad", str(owner.uid), owner.pk, "ada@example.org"]
    for term in terms:
        assert found(staff, APPS, term) == ["Notes 50%"], term
    for term in [app.client_id[:31], "n_tes", "nothing", "org"]:
        assert found(staff, APPS, term) == [], term
    assert "No apps match" in staff.text


def test_apps_are_distinguished_by_their_state(staff: Browser) -> None:
    ApplicationFactory(name="Young", is_verified=True)
    SuspendedApplicationFactory(name="Stopped")
    now = timezone.now()
    for name, age in (("Young", timedelta(days=7) - HOUR), ("Stopped", timedelta(days=7))):
        Application.objects.filter(name=name).update(created=now - age)
    assert found(staff, APPS, "", state="SUSPENDED") == ["Stopped"]
    assert found(staff, APPS, "", state="VERIFIED") == ["Young"]
    assert found(staff, APPS, "", state="NEW") == ["Young"]
    assert found(staff, APPS, "") == ["Young", "Stopped"]
    assert found(staff, APPS, "", state="nonsense") == ["Young", "Stopped"]
    assert "Select a valid choice" in staff.text


@pytest.mark.parametrize("page", [APPS, PEOPLE])
def test_an_address_is_found_and_shown_with_the_right_to_see_people_alone(sign_in: SignIn, page: str) -> None:
    app = ApplicationFactory(user=UserFactory(username="Ada", email="secret@example.org"))
    may_search = ("oidc_provider.suspend_application", "accounts.ban_user")
    expected = [app.name if page == APPS else "Ada"]
    without, allowed = sign_in(*may_search), sign_in(*may_search, "accounts.view_user")
    assert found(without, page, "secret@example.org") == []
    assert "chat id." in without.text
    assert found(without, page, "Ada") == expected
    for path in (page, f"{PEOPLE}{app.user.pk}/", f"{APPS}{app.client_id}/"):
        assert "secret@example.org" not in without.open(path).response.content.decode()
    assert found(allowed, page, "secret@example.org") == expected
    assert "chat id, email." in allowed.text
    assert "secret@example.org" in allowed.open(f"{PEOPLE}{app.user.pk}/").text


@pytest.mark.embedded
def test_a_hostile_term_finds_nothing() -> None:
    ApplicationFactory(user=UserFactory(username="Ada", display_name="Ada"), name="Notes")
    now = timezone.now()
    for term in HOSTILE:
        assert not staff_queries.find_people(term=term, standing="", with_email=True).exists(), term
        assert not staff_queries.find_applications(term=term, state="", now=now, with_email=True).exists(), term


@pytest.mark.parametrize("page", [APPS, PEOPLE])
def test_odd_queries_are_answered(staff: Browser, page: str) -> None:
    ApplicationFactory(user=UserFactory(username="Ada"), name="Notes")
    everything = found(staff, page, "")
    assert found(staff, page, " ") == everything
    assert found(staff, page, "'<b>") == []
    assert problems_of(staff.response) == []
    found(staff, page, "x" * 256)
    assert "Ensure this value has at most 255 characters (it has 256)." in staff.text
    for number in ("0", "9" * 30, "x"):
        assert staff.open(f"{page}?page={number}").response.status_code == 200


@pytest.mark.embedded
def test_lists_cost_the_same_for_one_row_and_for_ten_and_have_pages(staff: Browser) -> None:
    ApprovalFactory()
    before = {page: (cost_of(staff, page), cost_of(staff, page))[1] for page in (APPS, f"{APPS}?q=App", PEOPLE)}
    for _ in range(9):
        ApprovalFactory()
    assert {page: cost_of(staff, page) for page in before} == before
    owner = UserFactory()
    Application.objects.bulk_create(ApplicationFactory.build_batch(20, user=owner))
    assert len(found(staff, APPS, "App")) == 25
    (older,) = staff.page.xpath("//a[@rel='next']/@href")
    assert "q=App" in older
    staff.open(APPS + older)
    assert len(staff.page.xpath("//span[@class='row__title']/a")) == 5


def test_an_app_shows_how_many_use_it(staff: Browser) -> None:
    app = ApplicationFactory(name="Notes")
    for _ in range(2):
        ApprovalFactory(application=app)
    ApplicationFactory(name="Lonely")
    text = staff.open(APPS).text
    assert "2 users, registered" in text
    assert "0 users, registered" in text
    assert "2 apps" in text


def show_picture(person: User) -> None:
    profile = main_profile(person)
    Profile.objects.filter(pk=profile.pk).update(avatar=AssetFactory(owner=person))
    documents.rebuild(profile.pk)


def test_people_are_shown_with_their_picture_and_what_they_have(staff: Browser) -> None:
    ada = UserFactory(username="Ada", display_name="Countess")
    ApplicationFactory(user=ada)
    FileFactory.create_batch(2, owner=ada)
    show_picture(ada)
    text = staff.open(f"{PEOPLE}?q=ada").text
    assert "Ada Countess, uid" in text
    for words in ("Free", "1 app", "2 files", f"Since {ada.created_at.day} "):
        assert words in text
    assert len(staff.page.xpath("//span[contains(@class, 'initial')]/img")) == 1


def test_the_picture_of_a_private_profile_needs_its_right(sign_in: SignIn) -> None:
    ada = UserFactory(username="Ada", public_api_access=False)
    show_picture(ada)
    for rights, number in ((("accounts.ban_user",), 0), (("accounts.ban_user", "lookup.view_profile"), 1)):
        browser = sign_in(*rights).open(f"{PEOPLE}?q=ada")
        assert len(browser.page.xpath("//span[contains(@class, 'initial')]/img")) == number
