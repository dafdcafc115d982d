"""What is done with files on the pages: favorites, moves, deletion; of one's own alone."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.http import QueryDict
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts.models import User
from dashboard.imagehost.views import back_url
from imagehost.models import File, State
from imagehost.storing import files, quotas
from tests.dashboard.imagehost.reading import HOME, HOSTILE, messages_of, text_of
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost import objects
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db

SELECTED, DELETE = f"{HOME}files/selected/", f"{HOME}files/delete/"


def ready(user: User | None) -> set[str]:
    return set(File.objects.ready().filter(owner=user).values_list("name", flat=True))


def test_a_file_becomes_a_favorite_and_is_none_again(browser: Client, user: User) -> None:
    file = FileFactory(owner=user)
    path = f"{HOME}files/{file.name}/favorite/"
    back = f"{HOME}?q=x&page=2"
    for _ in range(2):  # twice is no toggle
        answer = browser.post(path, {"is_favorite": "1", "back": back})
        assert (answer.status_code, answer["Location"]) == (302, back)
        file.refresh_from_db()
        assert file.is_favorite is True
    [button] = page_of(browser.get(HOME)).xpath("//button[@name='is_favorite']")  # says what it will do
    assert (button.get("value"), button.text, button.get("formaction")) == ("0", "Remove from favorites", path)
    browser.post(path, {"is_favorite": "0"})
    file.refresh_from_db()
    assert file.is_favorite is False


def test_the_way_back_leads_to_a_page_of_the_image_host_alone(browser: Client, user: User) -> None:
    for back in ("https://elsewhere.example/", "//elsewhere.example", "/dashboard/", "javascript:1", ""):
        assert back_url(QueryDict(urlencode({"back": back}))) == HOME
    file = FileFactory(owner=user)
    answer = browser.post(f"{HOME}files/{file.name}/favorite/", {"back": "//elsewhere.example"})
    assert answer["Location"] == HOME
    answer = browser.get(DELETE, {"file": file.name, "back": "//elsewhere.example"})
    assert page_of(answer).xpath("//a[text()='Cancel']/@href") == [HOME]


def test_selected_files_move_to_a_folder_and_out_of_it(browser: Client, user: User) -> None:
    folder = FolderFactory(owner=user, name="Shots")
    chosen = [FileFactory(owner=user) for _ in range(2)]
    other = FileFactory(owner=user)
    names = [file.name for file in chosen]
    answer = browser.post(SELECTED, {"file": names, "act": f"move:{folder.pk}", "back": f"{HOME}?page=2"})
    assert (answer["Location"], messages_of(answer)) == (f"{HOME}?page=2", ["2 files moved to the folder Shots."])
    assert {file.folder_id for file in File.objects.filter(name__in=names)} == {folder.pk}
    other.refresh_from_db()
    assert other.folder is None
    answer = browser.post(SELECTED, {"file": names[:1], "act": "move:root"})
    assert messages_of(answer)[-1] == "1 file moved to no folder."
    assert File.objects.filter(folder=folder).count() == 1


def test_a_choice_that_cannot_be_says_why(browser: Client, user: User) -> None:
    foreign = FolderFactory()
    theirs = FileFactory(folder=foreign)
    mine = FileFactory(folder=FolderFactory(owner=user))
    no_folder = "Choose one of your folders to move the files to."
    long_act = "Ensure this value has at most 64 characters (it has 65)."
    no_act = "Choose what to do with the selected files."
    for act, names, sentence in (
        ("move:root", [], "Choose at least one file first."),
        ("delete", [], "Choose at least one file first."),
        ("move:root", ["x"] * 101, "Choose at most 100 files at a time."),
        ("x" * 65, [mine.name], long_act),
        ("x" * 65, ["x"] * 101, f"Choose at most 100 files at a time. {long_act}"),
        (f"move:{foreign.pk}", [mine.name], no_folder),
        ("move:", [mine.name], no_folder),
        ("expire:2d", [mine.name], "Choose from the list when the files expire."),
        ("", [mine.name], no_act),
        ("hide:root", [mine.name], no_act),
        ("move:root", [theirs.name, "nothing!"], "0 files moved to no folder."),
    ):
        answer = browser.post(SELECTED, {"file": names, "act": act})
        assert (answer.status_code, answer["Location"], messages_of(answer)[-1]) == (302, HOME, sentence)
    mine.refresh_from_db()
    theirs.refresh_from_db()
    assert (mine.folder is not None, theirs.folder) == (True, foreign)


def test_deletion_asks_first_and_lists_what_goes(
    browser: Client,
    user: User,
    bucket_directory: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    chosen = [FileFactory(owner=user, original_name=name) for name in ("a.png", HOSTILE)]
    kept = FileFactory(owner=user)
    objects.put(*chosen, kept)
    names = [file.name for file in chosen]
    question = browser.post(SELECTED, {"file": names, "act": "delete", "back": f"{HOME}?page=2"}, follow=True)
    assert problems_of(question) == []
    assert "Delete 2 files?" in text_of(question)
    assert "The files are deleted permanently: their links, pages and previews stop working." in text_of(question)
    assert all(title in text_of(question) for title in ("a.png", HOSTILE))
    assert ready(user) == {*names, kept.name}
    [form] = [form for form in page_of(question).forms if "file" in form.fields]
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.post(DELETE, _values(form))
    assert (answer["Location"], messages_of(answer)) == (f"{HOME}?page=2", ["2 files deleted."])
    assert ready(user) == {kept.name}
    assert quotas.used(user.pk) == kept.size
    assert objects.all_keys() == [kept.key]


def _values(form: object) -> dict[str, list[str]]:
    """As a browser sends it; lxml gives forms no type."""
    values: dict[str, list[str]] = {}
    for name, value in form.form_values():  # type: ignore[attr-defined]
        values.setdefault(name, []).append(value)
    return values


def test_the_files_of_another_user_are_not_found(browser: Client, user: User) -> None:
    foreign, mine = FileFactory(), FileFactory(owner=user)
    gone = FileFactory(owner=user, state=State.DELETED)
    for name in (foreign.name, gone.name, "nothing!", ""):
        assert browser.get(DELETE, {"file": name}).status_code == 404
        assert browser.post(DELETE, {"file": name}).status_code == 404
        if name:
            assert browser.post(f"{HOME}files/{name}/favorite/", {"is_favorite": "1"}).status_code == 404
    browser.post(DELETE, {"file": [foreign.name, mine.name]})
    assert (ready(foreign.owner), ready(user)) == ({foreign.name}, set())
    foreign.refresh_from_db()
    assert foreign.is_favorite is False


def test_deletion_costs_the_same_for_one_file_and_for_ten(browser: Client, user: User) -> None:
    def ask(count: int) -> list[str]:
        names = [FileFactory(folder=FolderFactory(owner=user)).name for _ in range(count)]
        return statements.names(lambda: browser.get(DELETE, {"file": names}))

    assert ask(10) == ask(1)
    one, ten = ([FileFactory(owner=user) for _ in range(count)] for count in (1, 10))
    assert len(statements.names(lambda: files.delete_all(owner=user, files=one))) == len(
        statements.names(lambda: files.delete_all(owner=user, files=ten))
    )


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_two_deletions_of_the_same_files_give_their_bytes_back_once(user: User) -> None:
    kept = FileFactory(owner=user)
    gone = [FileFactory(owner=user) for _ in range(5)]
    counts = together(2, lambda number: files.delete_all(owner=user, files=gone))
    assert sorted(counts) == [0, 5]
    assert quotas.used(user.pk) == kept.size
