"""Folder rules on the pages: added, changed, moved, deleted; and the tester."""

from __future__ import annotations

import pytest
from django.test import Client

from accounts.models import User
from dashboard import versions
from imagehost.models import FolderRule
from tests.dashboard.imagehost.reading import HOME, HOSTILE, messages_of, text_of
from tests.factories.imagehost import FolderFactory, FolderRuleFactory
from tests.pages.markup import page_of, problems_of

pytestmark = pytest.mark.django_db

RULES = f"{HOME}rules/"


def rules_of(user: User) -> list[tuple[str, str, str]]:
    rows = FolderRule.objects.filter(owner=user).order_by("position")
    return list(rows.values_list("kind", "pattern", "folder__name"))


def edited(browser: Client, rule: FolderRule, **changes: str) -> dict[str, str]:
    """The values of the edit form as the page shows it, and these."""
    [form] = [form for form in page_of(browser.get(f"{RULES}{rule.pk}/edit/")).forms if "version" in form.fields]
    return {**dict(form.form_values()), **changes}


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


MISTAKES = [
    ({"pattern": "a\x00b"}, {"pattern": ["Null characters are not allowed."]}),
    ({"pattern": "a/b"}, {"pattern": ["A file name has no folders in it: leave out / and \\."]}),
    ({"folder_id": "x"}, {"folder_id": ["Select a valid choice. x is not one of the available choices."]}),
]


def test_both_forms_show_what_is_wrong(browser: Client, user: User) -> None:
    rule = FolderRuleFactory(folder__owner=user, kind="filename", pattern="*")
    edit, values = f"{RULES}{rule.pk}/edit/", {"kind": "filename", "pattern": "*", "folder_id": rule.folder_id}
    for changes, errors in MISTAKES:
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
