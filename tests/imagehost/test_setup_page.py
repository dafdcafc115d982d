"""The page where people set the image host up: complete without scripts, theirs alone, and hard to break."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import ApiKey, User
from accounts.plans import Plan
from imagehost import media
from imagehost.models import File, Folder, State, Usage
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost.set_ups import PAGE, section_of
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert("1")</script>'


@pytest.fixture
def user(db: None) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def browser(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def test_the_page_of_somebody_new_keeps_the_rules(browser: Client) -> None:
    answer = browser.get(PAGE)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "no-store" in answer.headers["Cache-Control"]
    assert page_of(answer).xpath("//script") == []
    assert "0\xa0bytes of 1.0\xa0GB used (0 %)".replace("\xa0", " ") in section_of(answer, "storage")
    assert "Your plan is Free: a file has at most 75.0 MB." in section_of(answer, "storage")
    assert "You have no folders yet." in section_of(answer, "folders")
    assert "Make a folder first" in section_of(answer, "rules")
    assert "Nothing is here yet." in section_of(answer, "files")


def test_the_page_of_somebody_who_uses_it_keeps_the_rules(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots", password="secret")
    for number, (kind, pattern) in enumerate([("filename", "shot*"), ("extension", "gif"), ("mime", "video/*")]):
        FolderRuleFactory(folder=folder, position=number, kind=kind, pattern=pattern)
    FileFactory(folder=folder, size=1024 * 1024, original_name="shot 1.png")
    FileFactory(owner=user, size=2048, media=media.MP4, quarantined_at=timezone.now())
    FolderFactory(owner=user, name="Empty")
    answer = browser.get(PAGE, {"name": "a shot.gif"})
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "1.0 MB of 1.0 GB used (1 %)" in section_of(answer, "storage")
    folders = section_of(answer, "folders")
    assert "Shots Public Password 1 file, 1.0 MB" in folders
    assert "Empty 0 files, 0 bytes" in folders
    assert "1. File name shot* → Shots" in section_of(answer, "rules")
    assert "2. Extension gif → Shots Would win" in section_of(answer, "rules")
    files = section_of(answer, "files")
    assert "shot 1.png Shots, 1.0 MB" in files
    assert "Taken down" in files
    links = page_of(answer).xpath("//section[@aria-labelledby='files']//a/@href")
    assert links == [f"http://127.0.0.1:8000/files/{File.objects.get(folder=folder).name}"]


def test_names_that_are_markup_are_shown_as_they_are(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name=HOSTILE, is_public=True)
    FolderRuleFactory(folder=folder, kind="filename", pattern=HOSTILE)
    FileFactory(folder=folder, original_name=HOSTILE)
    answers = [
        browser.get(PAGE, {"name": HOSTILE, "mime": "image/png"}),
        browser.get(PAGE, {"name": HOSTILE, "mime": HOSTILE}),
        browser.post(f"{PAGE}/rules", {"kind": "extension", "pattern": HOSTILE, "folder_id": HOSTILE}),
        browser.post(f"{PAGE}/folders", {"name": HOSTILE}),
    ]
    for answer in answers:
        assert (answer.status_code, problems_of(answer)) == (200, [])
        assert HOSTILE not in answer.content.decode()
        assert HOSTILE in section_of(answer, "rules")


def test_the_page_costs_the_same_for_one_row_and_for_ten(browser: Client, user: User, settings: Settings) -> None:
    """The session, where the database keeps it, and its user; folders with counts, files with a total, usage, rules."""
    folder = FolderFactory(owner=user)
    FolderRuleFactory(folder=folder, position=0)
    FileFactory(folder=folder)
    kept = [] if "cache" in settings.SESSION_ENGINE else ["SELECT django_session"]
    expected = [
        *(*kept, "SELECT accounts_user"),
        *("SELECT imagehost_folder", "SELECT imagehost_file", "SELECT imagehost_usage", "SELECT imagehost_folderrule"),
    ]
    assert statements.names(lambda: browser.get(PAGE)) == expected
    for number in range(1, 10):
        other = FolderFactory(owner=user)
        FolderRuleFactory(folder=other, position=number)
        FileFactory(folder=other)
    assert statements.names(lambda: browser.get(PAGE)) == expected


@pytest.mark.parametrize(
    ("used", "plan", "sentence"),
    [
        (1, Plan.FREE, "1 byte of 1.0 GB used (1 %)"),
        (536_870_912, Plan.FREE, "512.0 MB of 1.0 GB used (50 %)"),
        (1_073_741_823, Plan.FREE, "of 1.0 GB used (99 %)"),
        (1_073_741_824, Plan.FREE, "1.0 GB of 1.0 GB used (100 %)"),
        (5_368_709_120, Plan.FREE, "5.0 GB of 1.0 GB used (100 %)"),
        (5_368_709_120, Plan.PREMIUM, "5.0 GB of 10.0 GB used (50 %)"),
        (5_368_709_120, Plan.IMAGEHOST, "5.0 GB of 100.0 GB used (5 %)"),
    ],
)
def test_the_bar_says_how_much_is_used(browser: Client, user: User, used: int, plan: Plan, sentence: str) -> None:
    Usage.objects.create(owner=user, used_bytes=used)
    User.objects.filter(pk=user.pk).update(plan=plan)
    answer = browser.get(PAGE)
    assert sentence in section_of(answer, "storage")
    [meter] = page_of(answer).xpath("//meter")
    assert (int(meter.get("value")), int(meter.get("min"))) == (used, 0)
    assert ("Nothing more fits" in section_of(answer, "storage")) is (used >= int(meter.get("max")))


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (Plan.FREE, "Your plan is Free: a file has at most 75.0 MB."),
        (Plan.PREMIUM, "Your plan is Premium: a file has at most 150.0 MB."),
        (Plan.IMAGEHOST, "Your plan is ImageHost: a file has at most 250.0 MB."),
    ],
)
def test_the_plan_says_how_large_a_file_may_be(browser: Client, user: User, plan: Plan, sentence: str) -> None:
    User.objects.filter(pk=user.pk).update(plan=plan)
    assert sentence in section_of(browser.get(PAGE), "storage")


def test_a_plan_that_has_ended_is_the_free_one(browser: Client, user: User) -> None:
    User.objects.filter(pk=user.pk).update(plan=Plan.IMAGEHOST, plan_expires_at=timezone.now())
    assert "of 1.0 GB used" in section_of(browser.get(PAGE), "storage")


def test_recent_uploads_are_the_ten_newest_of_ones_own_that_are_stored(browser: Client, user: User) -> None:
    FileFactory()
    FileFactory(owner=user, state=State.PENDING)
    FileFactory(owner=user, state=State.DELETED)
    mine = [FileFactory(owner=user) for _ in range(12)]
    answer = browser.get(PAGE)
    names = page_of(answer).xpath("//section[@aria-labelledby='files']//a/text()")
    assert names == [file.file_name for file in sorted(mine, key=lambda file: file.uploaded_at, reverse=True)[:10]]
    assert "The newest 10 of 12." in section_of(answer, "files")


PATHS = [
    PAGE,
    f"{PAGE}/folders",
    f"{PAGE}/rules",
    f"{PAGE}/rules/1/up",
    *(f"{PAGE}/uploaders/{kind}" for kind in ("sharex", "sharex-earlier", "flameshot", "curl")),
]


@pytest.mark.parametrize("path", PATHS)
def test_a_visitor_is_sent_to_the_login_page(client: Client, path: str) -> None:
    for answer in (client.get(path), client.post(path)):
        assert (answer.status_code, answer["Location"]) == (302, f"/accounts/login/?next={path}")
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("path", PATHS[1:])
def test_a_login_in_between_leads_back_to_the_page(browser: Client, path: str) -> None:
    answer = browser.get(path)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert not ApiKey.objects.exists()


@pytest.mark.parametrize("path", PATHS[1:])
def test_a_form_without_its_token_does_nothing(user: User, path: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(user)
    assert browser.post(path, {"name": "x"}).status_code == 403
    assert not ApiKey.objects.exists()
    assert not Folder.objects.exists()


@pytest.mark.parametrize("path", [f"{PAGE}/uploaders/nothing", f"{PAGE}/rules/1/first", f"{PAGE}/rules/x/up"])
def test_what_there_is_not_is_not_found(browser: Client, path: str) -> None:
    assert (browser.get(path).status_code, browser.post(path).status_code) == (404, 404)


def test_the_page_itself_takes_no_form(browser: Client) -> None:
    assert browser.post(PAGE).status_code == 405


def test_the_navigation_leads_to_the_page(browser: Client) -> None:
    links = page_of(browser.get("/")).xpath("//nav//a[normalize-space()='Image host']")
    assert [link.get("href") for link in links] == [PAGE]
    [here] = page_of(browser.get(PAGE)).xpath("//nav//a[@aria-current]")
    assert here.text_content() == "Image host"
