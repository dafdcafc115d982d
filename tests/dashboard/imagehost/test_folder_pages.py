"""Folders and folder rules on the pages: made, changed, moved, deleted; and the tester of rules."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password
from django.test import Client

from accounts.models import User
from dashboard import versions
from dashboard.imagehost.forms import EditFolderForm, FolderForm
from imagehost.models import Folder, FolderRule
from tests.dashboard.imagehost.reading import HOME, HOSTILE, messages_of, text_of
from tests.factories.imagehost import FileFactory, FolderFactory, FolderRuleFactory
from tests.imagehost.public_pages import stored
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

FOLDERS, RULES = f"{HOME}folders/", f"{HOME}rules/"
VALUES = {"name": "Shots", "visibility": "private", "password": ""}
NAME_TAKEN = "There is a folder of this name already."


def edited(browser: Client, row: Folder | FolderRule, **changes: str) -> dict[str, str]:
    """The values of the edit form as the page shows it, and these."""
    page = browser.get(f"{FOLDERS if isinstance(row, Folder) else RULES}{row.pk}/edit/")
    [form] = [form for form in page_of(page).forms if "version" in form.fields]
    return {**dict(form.form_values()), **changes}


def test_the_list_says_what_is_in_each_folder(browser: Client, user: User) -> None:
    public = FolderFactory(owner=user, name="Public one", is_public=True)
    FolderFactory(owner=user, name="Locked", password="secret")
    FileFactory(folder=FolderFactory(owner=user, name=HOSTILE[:32]), size=1024)
    FolderFactory(name="Foreign")
    answer = browser.get(FOLDERS)
    assert problems_of(answer) == []
    text = text_of(answer)
    assert "Public one Public 0 files, 0 bytes" in text
    assert "Locked Public, with a password 0 files" in text
    assert f"{HOSTILE[:32]} Private 1 file, 1.0 KB" in text
    assert "Foreign" not in text
    links = page_of(answer).xpath("//a[@aria-label='Page of Public one']/@href")
    assert links == [f"http://127.0.0.1:8000/folders/{public.pk}"]


@pytest.mark.parametrize("path", [FOLDERS, RULES])
def test_a_list_costs_the_same_for_one_row_and_for_ten(browser: Client, user: User, path: str) -> None:
    FileFactory(folder=FolderRuleFactory(folder__owner=user, position=0).folder)
    asked = statements.names(lambda: browser.get(path))
    for number in range(1, 10):
        FileFactory(folder=FolderRuleFactory(folder__owner=user, position=number).folder)
    assert statements.names(lambda: browser.get(path)) == asked


def test_a_folder_is_made(browser: Client, user: User) -> None:
    for visibility, password in (("private", ""), ("public", ""), ("password", " open sesame ")):
        answer = browser.post(FOLDERS, {"name": f"  {visibility} ", "visibility": visibility, "password": password})
        assert (answer.status_code, answer["Location"]) == (302, FOLDERS)
        assert messages_of(answer)[-1] == f"Folder {visibility} created."
        folder = Folder.objects.get(name=visibility)
        assert (folder.owner, folder.is_public) == (user, visibility != "private")
        assert check_password(password, folder.password_hash) if password else folder.password_hash == ""


MISTAKES = [
    ({"name": "   "}, {"name": ["This field is required."]}),
    ({"name": "x" * 33}, {"name": ["Ensure this value has at most 32 characters (it has 33)."]}),
    ({"name": "a\u202eb"}, {"name": ["Contains control or invisible characters."]}),
    ({"visibility": "all"}, {"visibility": ["Select a valid choice. all is not one of the available choices."]}),
    ({"visibility": "password"}, {"password": ["Type a password of 1 to 32 characters."]}),
    ({"password": "secret"}, {"password": ["Choose above that the page needs a password, or leave this empty."]}),
    (
        {"visibility": "password", "password": "a\u202eb"},
        {"password": ["Contains control or invisible characters."]},
    ),
]


def test_a_folder_that_cannot_be_is_a_form_error() -> None:
    for changes, errors in MISTAKES:
        values = {**VALUES, **changes}
        assert FolderForm(values).errors == errors
        assert EditFolderForm({**values, "version": "1"}, folder=FolderFactory.build(owner=None)).errors == errors


@pytest.mark.parametrize(
    ("changes", "errors"), [({"name": "Taken"}, {"name": [NAME_TAKEN]}), MISTAKES[-1]], ids=["operation", "form"]
)
def test_both_forms_show_what_is_wrong(
    browser: Client, user: User, changes: dict[str, str], errors: dict[str, list[str]]
) -> None:
    FolderFactory(owner=user, name="Taken")
    folder = FolderFactory(owner=user, name="Shots")
    for path, values in (
        (FOLDERS, {**VALUES, **changes}),
        (f"{FOLDERS}{folder.pk}/edit/", edited(browser, folder, **changes)),
    ):
        answer = browser.post(path, values)
        assert (answer.status_code, answer.context["form"].errors, problems_of(answer)) == (200, errors, [])
    folder.refresh_from_db()
    assert (folder.name, folder.is_public, Folder.objects.count()) == ("Shots", False, 2)


def test_the_form_of_a_folder_with_a_password_says_what_opens_without_it(browser: Client, user: User) -> None:
    locked, private = FolderFactory(owner=user, password="secret"), FolderFactory(owner=user)
    file, said = FileFactory(folder=locked), "Without the password, the page of each file works for them too"
    edits = [browser.get(f"{FOLDERS}{folder.pk}/edit/") for folder in (locked, private)]
    assert [said in text_of(page) for page in edits] == [True, False]
    assert file.original_name not in text_of(Client().get(f"/files/{file.name}"))
    browser.post(f"{FOLDERS}{locked.pk}/edit/", edited(browser, locked, visibility="private"))
    assert file.original_name in text_of(Client().get(f"/files/{file.name}"))


def test_a_folder_is_renamed_and_its_password_set_changed_and_removed(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    path = f"{FOLDERS}{folder.pk}/edit/"
    for changes, is_public, password in (
        ({"name": "Pictures"}, False, None),
        ({"visibility": "password", "password": "first"}, True, "first"),
        ({"name": "Photos"}, True, "first"),
        ({"password": "second"}, True, "second"),
        ({"visibility": "public"}, True, None),
        ({"visibility": "password", "password": "third"}, True, "third"),
        ({"visibility": "private"}, False, None),
    ):
        answer = browser.post(path, edited(browser, folder, **changes))
        assert (answer.status_code, answer["Location"]) == (302, f"{FOLDERS}{folder.pk}/"), changes
        folder.refresh_from_db()
        assert (folder.is_public, folder.is_password_enabled) == (is_public, password is not None), changes
        assert password is None or check_password(password, folder.password_hash), changes
    assert folder.name == "Photos"


def test_a_form_that_is_older_than_the_folder_saves_nothing_and_keeps_what_was_typed(
    browser: Client, user: User
) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    stale = edited(browser, folder, name="Typed here")
    Folder.objects.filter(pk=folder.pk).update(name="Elsewhere", updated_at=folder.updated_at + timedelta(seconds=1))
    answer = browser.post(f"{FOLDERS}{folder.pk}/edit/", stale)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert versions.CHANGED in text_of(answer)
    assert page_of(answer).xpath("//input[@name='name']/@value") == ["Typed here"]
    assert Folder.objects.get(pk=folder.pk).name == "Elsewhere"
    again = browser.post(f"{FOLDERS}{folder.pk}/edit/", {**stale, "version": "x"})
    assert again.status_code == 200
    assert browser.post(f"{FOLDERS}{folder.pk}/edit/", edited(browser, folder, name="New")).status_code == 302


def test_deletion_asks_first_and_leaves_the_files(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots", is_public=True)
    file = FileFactory(folder=folder)
    FolderRuleFactory(folder=folder)
    path = f"{FOLDERS}{folder.pk}/delete/"
    question = browser.get(path)
    assert problems_of(question) == []
    assert "Delete the folder Shots?" in text_of(question)
    assert "Its page and its link no longer work." in text_of(question)
    assert "Its 1 file stays stored, in no folder." in text_of(question)
    assert "1 rule that leads here will be deleted with it." in text_of(question)
    assert Folder.objects.exists()
    answer = browser.post(path)
    assert (answer["Location"], messages_of(answer)) == (FOLDERS, ["Folder Shots deleted."])
    file.refresh_from_db()
    assert (file.folder, Folder.objects.exists()) == (None, False)


def test_a_private_folder_is_downloaded_by_its_owner_alone(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Mine")
    stored(folder=folder)
    [link] = page_of(browser.get(FOLDERS)).xpath("//a[@aria-label='ZIP of Mine']/@href")
    answer: Any = browser.get(link)  # the test client's types know no streams
    assert (answer.status_code, b"".join(answer.streaming_content)[:4]) == (200, b"PK\x03\x04")
    assert Client().get(link).status_code == 404


def test_the_folder_of_another_user_is_not_found(browser: Client) -> None:
    foreign = FolderFactory(name="Foreign", is_public=True)
    for folder_id in (foreign.pk, "none"):
        assert browser.get(f"{FOLDERS}{folder_id}/").status_code == 404
        for path in (f"{FOLDERS}{folder_id}/edit/", f"{FOLDERS}{folder_id}/delete/"):
            assert (browser.get(path).status_code, browser.post(path, VALUES).status_code) == (404, 404)
    foreign.refresh_from_db()
    assert foreign.name == "Foreign"


def test_a_name_with_markup_is_text_on_every_page_of_the_folder(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name=HOSTILE[:32])
    for page in ("", "edit/", "delete/"):
        answer = browser.get(f"{FOLDERS}{folder.pk}/{page}")
        assert (answer.status_code, problems_of(answer)) == (200, []), page
        assert HOSTILE[:32] not in answer.content.decode()


def rules_of(user: User) -> list[tuple[str, str, str]]:
    rows = FolderRule.objects.filter(owner=user).order_by("position")
    return list(rows.values_list("kind", "pattern", "folder__name"))


def test_the_list_of_a_new_user_says_what_to_do(browser: Client) -> None:
    answer = browser.get(RULES)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert "No rules yet" in text_of(answer)
    assert "Create a folder first" in text_of(answer)


def test_rules_are_added_moved_and_deleted(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    for kind, pattern in (("filename", "Shot*"), ("extension", ".JPEG"), ("mime", "video/*")):
        answer = browser.post(RULES, {"kind": kind, "pattern": pattern, "folder_id": folder.pk})
        assert (answer.status_code, answer["Location"]) == (302, RULES)
        assert messages_of(answer)[-1] == "Rule added at the end of the list."
    first, second, third = FolderRule.objects.order_by("position")
    assert (first.pattern, second.pattern, third.pattern) == ("Shot*", "jpg", "video/*")
    for rule, places in ((third, "-1"), (first, "1"), (first, "99"), (third, "-99")):
        answer = browser.post(f"{RULES}{rule.pk}/move/", {"places": places})
        assert (answer.status_code, answer["Location"]) == (302, RULES)
    assert [pattern for _, pattern, _ in rules_of(user)] == ["video/*", "jpg", "Shot*"]
    question = browser.get(f"{RULES}{second.pk}/delete/")
    assert problems_of(question) == []
    assert "Extension jpg no longer leads to the folder Shots." in text_of(question)
    assert len(rules_of(user)) == 3
    answer = browser.post(f"{RULES}{second.pk}/delete/")
    assert (answer["Location"], messages_of(answer)[-1]) == (RULES, "Rule deleted.")
    assert rules_of(user) == [("mime", "video/*", "Shots"), ("filename", "Shot*", "Shots")]


def test_the_page_shows_the_rules_and_their_buttons(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    rules = [FolderRuleFactory(folder=folder, position=position) for position in range(2)]
    answer = browser.get(RULES)
    page = page_of(answer)
    assert problems_of(answer) == []
    assert "1. Extension png → Shots" in text_of(answer)
    assert page.xpath("//ol//form/@action") == [f"{RULES}{rule.pk}/move/" for rule in rules]
    assert page.xpath("//button[@disabled]/@aria-label") == ["Move rule 1 up", "Move rule 2 down"]
    assert page.xpath("//button[@name='places']/@value") == ["-1", "1"] * 2


RULE_MISTAKES = [
    ({"pattern": "a\x00b"}, {"pattern": ["Null characters are not allowed."]}),
    ({"pattern": "a/b"}, {"pattern": ["A file name has no folders in it: leave out / and \\."]}),
    ({"folder_id": "x"}, {"folder_id": ["Select a valid choice. x is not one of the available choices."]}),
]


def test_both_forms_of_a_rule_show_what_is_wrong(browser: Client, user: User) -> None:
    rule = FolderRuleFactory(folder__owner=user, kind="filename", pattern="*")
    edit, values = f"{RULES}{rule.pk}/edit/", {"kind": "filename", "pattern": "*", "folder_id": rule.folder_id}
    for changes, errors in RULE_MISTAKES:
        for path, sent in ((RULES, {**values, **changes}), (edit, edited(browser, rule, **changes))):
            answer = browser.post(path, sent)
            assert (answer.status_code, answer.context["form"].errors, problems_of(answer)) == (200, errors, [])
    assert rules_of(user) == [("filename", "*", rule.folder.name)]


def test_a_rule_is_changed_in_its_place(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    other = FolderFactory(owner=user, name="Films")
    rules = [FolderRuleFactory(folder=folder, position=position) for position in range(3)]
    values = edited(browser, rules[1], kind="mime", pattern="video/*", folder_id=other.pk)
    answer = browser.post(f"{RULES}{rules[1].pk}/edit/", values)
    assert (answer["Location"], messages_of(answer)) == (RULES, ["Rule saved."])
    assert rules_of(user) == [
        ("extension", "png", "Shots"),
        ("mime", "video/*", "Films"),
        ("extension", "png", "Shots"),
    ]


@pytest.mark.parametrize("change", ["kind", "pattern", "folder_id"])
def test_a_form_that_is_older_than_the_rule_saves_nothing(browser: Client, user: User, change: str) -> None:
    rule = FolderRuleFactory(folder__owner=user)
    elsewhere = {"kind": "filename", "pattern": "gif", "folder_id": FolderFactory(owner=user).pk}
    stale = edited(browser, rule, pattern="webp")
    FolderRule.objects.filter(pk=rule.pk).update(**{change: elsewhere[change]})
    before = rules_of(user)
    answer = browser.post(f"{RULES}{rule.pk}/edit/", stale)
    assert (answer.status_code, problems_of(answer)) == (200, [])
    assert versions.CHANGED in text_of(answer)
    assert page_of(answer).xpath("//input[@name='pattern']/@value") == ["webp"]
    assert rules_of(user) == before
    assert browser.post(f"{RULES}{rule.pk}/edit/", edited(browser, rule, pattern="webp")).status_code == 302


def test_rules_and_folders_of_another_user_are_not_found(browser: Client, user: User) -> None:
    FolderFactory(owner=user)
    foreign = FolderRuleFactory(position=0)
    FolderRuleFactory(folder=foreign.folder, position=1)
    answer = browser.post(RULES, {"kind": "filename", "pattern": "*", "folder_id": foreign.folder_id})
    assert list(answer.context["form"].errors) == ["folder_id"]
    for rule_id in (foreign.pk, 999_999, 10**40):
        for act in ("edit", "move", "delete"):
            assert browser.post(f"{RULES}{rule_id}/{act}/", {"places": "1"}).status_code == 404
        for page in ("edit", "delete"):
            assert browser.get(f"{RULES}{rule_id}/{page}/").status_code == 404
    own = FolderRuleFactory(folder__owner=user)
    for places in ("", "x", "99999"):
        assert browser.post(f"{RULES}{own.pk}/move/", {"places": places}).status_code == 404
    assert foreign.folder.name not in browser.get(RULES).content.decode()
    assert len(rules_of(foreign.owner)) == 2


def test_the_tester_names_the_folder_and_the_reason(browser: Client, user: User) -> None:
    shots, photos = FolderFactory(owner=user, name="Shots"), FolderFactory(owner=user, name="Photos")
    FolderRuleFactory(folder=shots, position=0, kind="filename", pattern="shot*")
    FolderRuleFactory(folder=photos, position=1, kind="extension", pattern="jpg")
    FolderRuleFactory(folder=photos, position=2, kind="mime", pattern="image/*")
    of_ending = "Rule 2 is the first that matches: the file would be stored with the extension jpg."
    for query, sentence in (
        ({"name": "Shot 1.png"}, "To the folder Shots. Rule 1 is the first that matches: the name is like shot*."),
        ({"name": "x.JPEG"}, f"To the folder Photos. {of_ending}"),
        ({"name": "x.png", "mime": "video/mp4"}, "To no folder: none of the rules matches."),
    ):
        answer = browser.get(RULES, query)
        assert sentence in text_of(answer)
        assert ("its content decides" in text_of(answer)) is (not query.get("mime"))
        assert ("This rule matches" in text_of(answer)) is ("To the folder" in sentence)
        assert problems_of(answer) == []


def test_the_tester_shows_what_is_wrong(browser: Client) -> None:
    for name, field in (("x" * 256, "name"), ("x.pdf", "mime")):
        answer = browser.get(RULES, {"name": name})
        assert (answer.status_code, list(answer.context["tester"].errors)) == (200, [field])
        assert problems_of(answer) == []


def test_patterns_that_are_markup_are_shown_as_they_are(browser: Client, user: User) -> None:
    rule = FolderRuleFactory(folder__owner=user, kind="filename", pattern=HOSTILE)
    for path in (f"{RULES}?name={HOSTILE}.png", f"{RULES}{rule.pk}/edit/", f"{RULES}{rule.pk}/delete/"):
        answer = browser.get(path)
        assert (answer.status_code, problems_of(answer)) == (200, [])
        assert HOSTILE not in answer.content.decode()
