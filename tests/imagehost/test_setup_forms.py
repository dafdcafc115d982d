"""Folders, rules and the tester of the page where people set the image host up."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.messages import get_messages
from django.test import Client

from accounts.models import User
from imagehost.models import Folder, FolderRule
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.imagehost.set_ups import PAGE, section_of
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db: None) -> User:
    return UserFactory(username="Ada")


@pytest.fixture
def browser(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def rules_of(user: User) -> list[tuple[str, str, str]]:
    rows = FolderRule.objects.filter(owner=user).order_by("position")
    return list(rows.values_list("kind", "pattern", "folder__name"))


def told(answer: Any) -> list[str]:
    return [str(message) for message in get_messages(answer.wsgi_request)]


def test_a_folder_is_made(browser: Client, user: User) -> None:
    answer = browser.post(f"{PAGE}/folders", {"name": "  Shots ", "is_public": "on"})
    assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}#folders")
    folder = Folder.objects.get()
    assert (folder.owner, folder.name, folder.is_public, folder.password_hash) == (user, "Shots", True, "")
    assert told(answer) == ["The folder Shots is there."]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("", "This field is required."),
        ("   ", "This field is required."),
        ("Shots", "There is a folder of this name already."),
        ("x" * 33, "Ensure this value has at most 32 characters (it has 33)."),
        ("a\x00b", "Null characters are not allowed."),
        ("a\u202eb", "Contains control or invisible characters."),
    ],
)
def test_a_folder_that_cannot_be_is_a_form_error(browser: Client, user: User, name: str, sentence: str) -> None:
    FolderFactory(owner=user, name="Shots")
    answer = browser.post(f"{PAGE}/folders", {"name": name})
    assert (answer.status_code, answer.context["folder_form"].errors) == (200, {"name": [sentence]})
    assert sentence in section_of(answer, "folders")
    assert problems_of(answer) == []
    assert Folder.objects.count() == 1


def test_rules_are_added_moved_and_deleted(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    for kind, pattern in (("filename", "Shot*"), ("extension", ".JPEG"), ("mime", "video/*")):
        answer = browser.post(f"{PAGE}/rules", {"kind": kind, "pattern": pattern, "folder_id": folder.pk})
        assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}#rules")
    assert rules_of(user) == [
        ("filename", "Shot*", "Shots"),
        ("extension", "jpg", "Shots"),
        ("mime", "video/*", "Shots"),
    ]
    first, second, third = FolderRule.objects.order_by("position")
    for rule, act in ((third, "up"), (first, "down"), (first, "down"), (second, "delete")):
        answer = browser.post(f"{PAGE}/rules/{rule.pk}/{act}")
        assert (answer.status_code, answer["Location"]) == (302, f"{PAGE}#rules")
    assert rules_of(user) == [("mime", "video/*", "Shots"), ("filename", "Shot*", "Shots")]


def test_the_buttons_of_the_page_are_the_forms_it_takes(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user)
    rules = [FolderRuleFactory(folder=folder, position=position) for position in range(2)]
    page = page_of(browser.get(PAGE))
    actions = [*page.xpath("//section[@aria-labelledby='rules']//li/form/@action"), *page.xpath("//@formaction")]
    assert sorted(actions) == sorted(
        f"{PAGE}/rules/{rule.pk}/{act}" for rule in rules for act in ("up", "down", "delete")
    )
    disabled = page.xpath("//button[@disabled]/@aria-label")
    assert disabled == ["Move rule 1 up", "Move rule 2 down"]


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"pattern": ""}, {"pattern": ["This field is required."]}),
        ({"pattern": "a\x00b"}, {"pattern": ["Null characters are not allowed."]}),
        (
            {"kind": "extension", "pattern": "exe"},
            {
                "pattern": [
                    "No upload is stored with the extension exe. "
                    "Use one of png, jpg, webp, gif, avif, mp4, webm or mov."
                ]
            },
        ),
        ({"kind": "regex"}, {"kind": ["Select a valid choice. regex is not one of the available choices."]}),
        ({"folder_id": "x"}, {"folder_id": ["Select a valid choice. x is not one of the available choices."]}),
        ({"folder_id": ""}, {"folder_id": ["This field is required."]}),
    ],
)
def test_a_rule_that_cannot_be_is_a_form_error(
    browser: Client, user: User, changes: dict[str, str], errors: dict[str, list[str]]
) -> None:
    folder = FolderFactory(owner=user)
    values = {"kind": "filename", "pattern": "*", "folder_id": folder.pk}
    answer = browser.post(f"{PAGE}/rules", {**values, **changes})
    assert (answer.status_code, answer.context["rule_form"].errors) == (200, errors)
    assert problems_of(answer) == []
    assert not FolderRule.objects.exists()
    assert browser.post(f"{PAGE}/rules", values).status_code == 302


def test_a_rule_too_many_says_so(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user)
    FolderRule.objects.bulk_create(
        FolderRule(owner=user, folder=folder, position=position, kind="filename", pattern="*")
        for position in range(100)
    )
    answer = browser.post(f"{PAGE}/rules", {"kind": "filename", "pattern": "*", "folder_id": folder.pk})
    assert "There can be at most 100 rules. Delete one first." in section_of(answer, "rules")


def test_folders_and_rules_of_somebody_else_are_out_of_reach(browser: Client, user: User) -> None:
    FolderFactory(owner=user)
    foreign = FolderRuleFactory(position=0)
    FolderRuleFactory(folder=foreign.folder, position=1)
    answer = browser.post(f"{PAGE}/rules", {"kind": "filename", "pattern": "*", "folder_id": foreign.folder_id})
    assert list(answer.context["rule_form"].errors) == ["folder_id"]
    bodies = set()
    for rule_id in (foreign.pk, 999_999, 10**40):
        for act in ("up", "down", "delete"):
            answer = browser.post(f"{PAGE}/rules/{rule_id}/{act}")
            assert answer.status_code == 404
            bodies.add(answer.content)
    assert len(bodies) == 1
    assert foreign.folder.name not in browser.get(PAGE).content.decode()
    assert len(rules_of(foreign.owner)) == 2


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"name": "Shot 1.png"}, "To the folder Shots. Rule 1 is the first that matches: the name is like shot*."),
        (
            {"name": "x.JPEG"},
            "To the folder Photos. Rule 2 is the first that matches: the file would be stored with the extension jpg.",
        ),
        (
            {"name": "x.png", "mime": ""},
            "To the folder Photos. Rule 3 is the first that matches: the type image/png is like image/*.",
        ),
        ({"name": "x.png", "mime": "video/mp4"}, "To no folder: none of the rules matches."),
    ],
)
def test_the_tester_names_the_folder_and_the_reason(
    browser: Client, user: User, query: dict[str, str], sentence: str
) -> None:
    shots, photos = FolderFactory(owner=user, name="Shots"), FolderFactory(owner=user, name="Photos")
    FolderRuleFactory(folder=shots, position=0, kind="filename", pattern="shot*")
    FolderRuleFactory(folder=photos, position=1, kind="extension", pattern="jpg")
    FolderRuleFactory(folder=photos, position=2, kind="mime", pattern="image/*")
    answer = browser.get(PAGE, query)
    assert sentence in section_of(answer, "rules")
    assert ("its content decides" in section_of(answer, "rules")) is (not query.get("mime"))
    assert problems_of(answer) == []


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"name": "x.pdf"}, "mime"),
        ({"name": "x.png", "mime": "text/html"}, "mime"),
    ],
)
def test_the_tester_says_what_it_does_not_understand(browser: Client, query: dict[str, str], field: str) -> None:
    answer = browser.get(PAGE, query)
    assert (answer.status_code, list(answer.context["tester"].errors)) == (200, [field])
    assert problems_of(answer) == []
