"""/search: people by how a username, an alias or a display name begins."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from django.test import Client

from accounts import bans, rate_limits, users
from accounts.models import User
from infrastructure.databases import folding
from lookup.editing import profiles
from tests.factories.accounts import UserFactory
from tests.factories.lookup import AliasRowFactory, ProfileFactory, main_profile, shown
from tests.lookup import statements
from tests.lookup.transfer_files import export, load
from tests.pages.markup import page_of, problems_of

NOTHING = "No one found"


@pytest.fixture
def ada(operator: User) -> User:
    """Ada_L, who has three names more and a profile behind an alias."""
    user = UserFactory(username="Ada_L", display_name="Countess Lovelace")
    profiles.change(profile=main_profile(user), values={"display_name": "Engine %_ Émile"}, by=user)
    AliasRowFactory(name__user=user, name__name="enchantress", redirects=True)
    own = ProfileFactory(user=user, display_name="Zebra Crossing")
    AliasRowFactory(name__user=user, name__name="other.side", redirects=False, profile=own)
    shown(user)
    return user


def found(query: str, client: Client | None = None) -> list[tuple[str, str, str]]:
    """Address, name and what is said below it of each result."""
    answer = (client or Client()).get(f"/search?q={quote(query)}")
    assert (answer.status_code, problems_of(answer)) == (200, []), answer.content
    rows = page_of(answer).xpath("//main//li[contains(@class, 'person')]")
    return [
        (row.xpath("string(.//a/@href)"), row.xpath("string(.//a)"), row.xpath("string(.//*[@class='meta'])"))
        for row in rows
    ]


MAIN = ("/Ada_L", "Engine %_ Émile", "@Ada_L")
OTHER = ("/other.side", "Zebra Crossing", "@other.side")


BY_BEGINNING = {
    "ada": [MAIN],
    " @ADA_l ": [MAIN],
    "da": [],
    "countess l": [(*MAIN[:2], "@Ada_L · Countess Lovelace")],
    "engine %_": [MAIN],
    "enchant": [(*MAIN[:2], "@Ada_L · enchantress")],
    "OTHER": [OTHER],
    "zebra": [OTHER],
    "en": [(*MAIN[:2], "@Ada_L · enchantress")],
    **{wild: [] for wild in ("%%", "__", "ad%", "ada%", "**", "a_a", "\\\\", "'--", "[a-z]", "😀😀")},
}


@pytest.mark.embedded
def test_a_name_is_found_by_its_beginning_alone(ada: User) -> None:
    assert {query: found(query) for query in BY_BEGINNING} == BY_BEGINNING


@pytest.mark.embedded
def test_private_and_banned_users_are_not_found(ada: User) -> None:
    names = ("ada", "countess", "engine", "enchant", "other", "zebra")
    User.objects.filter(pk=ada.pk).update(public_api_access=False)
    assert [found(name) for name in names] == [[]] * 6
    User.objects.filter(pk=ada.pk).update(public_api_access=True)
    assert all(found(name) for name in names)
    bans.ban(user=ada, by=None, reason="x")
    assert [found(name) for name in names] == [[]] * 6


def test_a_profile_of_an_alias_that_redirects_is_not_found(ada: User) -> None:
    ada.names.get(key="OTHER.SIDE").alias.__class__.objects.filter(pk="OTHER.SIDE").update(redirects=True)
    assert found("zebra") == []
    assert found("other.s") == [(*MAIN[:2], "@Ada_L · other.side")]


@pytest.mark.embedded
def test_the_exact_name_is_first_and_more_than_20_are_announced(operator: User) -> None:
    for number in range(25):
        UserFactory(username=f"Moon{number:02}", display_name="Moon")
    UserFactory(username="MOON")
    client = Client()
    names = [name for name, *_ in found("moon", client)]
    assert (len(names), names[:3]) == (20, ["/MOON", "/Moon00", "/Moon01"])
    assert "Type more of the name" in client.get("/search?q=moon").content.decode()
    assert len(found("moon1")) == 10


@pytest.mark.embedded
def test_exactly_20_are_shown_without_a_word_of_more(operator: User) -> None:
    for number in range(20):
        UserFactory(username=f"Moon{number:02}", display_name="Moon")
    client = Client()
    assert len(found("moon", client)) == 20
    assert "Type more of the name" not in client.get("/search?q=moon").content.decode()


def test_many_aliases_of_one_user_do_not_hide_that_there_are_more(operator: User) -> None:
    for number in range(21):
        AliasRowFactory(name__user=operator, name__name=f"Sun{number:02}", redirects=True)
    UserFactory(username="Sunny")
    client = Client()
    assert [name for name, *_ in found("sun", client)] == ["/Opal"]
    assert "Type more of the name" in client.get("/search?q=sun").content.decode()


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("q=a", "Type 2 to 32 characters"),
        ("q=%EF%BC%A1", "Type 2 to 32 characters"),
        ("q=%CC%81%CC%81%CC%81", "Type 2 to 32 characters"),
        ("q=@a", "Type 2 to 32 characters"),
        (f"q={'a' * 33}", "Type 2 to 32 characters"),
        (f"q={'a' * 100_000}", "Type 2 to 32 characters"),
        ("q=ada&q=bob", "one name at a time"),
        ("q=ab%01c", "control characters"),
        ("q=ab%E2%80%AEc", "control characters"),
        ("q=ab%ED%A0%80", NOTHING),
    ],
)
def test_what_cannot_be_a_name_is_refused_in_words(operator: User, query: str, problem: str) -> None:
    answer = Client().get(f"/search?{query}")
    assert (answer.status_code, problems_of(answer)) == (200 if problem == NOTHING else 400, [])
    assert problem in answer.content.decode()
    assert len(answer.content) < 20_000
    assert Client().get("/search?q=ab%00c").status_code == 400


def test_without_a_name_the_page_is_a_form_that_engines_leave_out(operator: User, client: Client) -> None:
    answer = client.get("/search")
    assert (answer.status_code, problems_of(answer)) == (200, [])
    page = page_of(answer)
    assert page.xpath("//meta[@name='robots']/@content") == ["noindex"]
    assert "Disallow: /search?\n" in client.get("/robots.txt").content.decode()
    assert client.post("/search").status_code == 405


@pytest.mark.embedded
def test_an_address_searches_so_often_in_a_minute(ada: User, client: Client) -> None:
    for _ in range(rate_limits.SEARCHES.amount):
        assert client.get("/search?q=ada").status_code == 200
    answer = client.get("/search?q=ada")
    assert (answer.status_code, 0 < int(answer["Retry-After"]) <= 60) == (429, True)
    assert "Limit reached: 30 searches a minute." in answer.content.decode()
    assert client.get("/search?q=a").status_code == 400
    assert client.get("/search?q=ada", REMOTE_ADDR="192.0.2.7").status_code == 200


@pytest.mark.embedded
@pytest.mark.parametrize(
    ("name", "queries"),
    [
        ("Émile Zola", ["emile", "ÉMILE", "e\u0301mile z", "\uff45\uff4d\uff49le"]),
        ("İstanbul", ["istanbul", "ISTANBUL"]),
        ("山田太郎", ["山", "山田"]),
    ],
)
def test_a_display_name_is_found_whatever_its_case_accents_and_width(
    operator: User, name: str, queries: list[str]
) -> None:
    user, other = UserFactory(username="Ada", display_name=name), UserFactory(username="Ben")
    profiles.change(profile=main_profile(other), values={"display_name": name}, by=other)
    shown(user)
    shown(other)
    client = Client()
    for query in queries:
        assert [row[0] for row in found(query, client)] == ["/Ada", "/Ben"], query


@pytest.mark.parametrize("query", ["か", "ガ", "กา", "하"])
def test_marks_that_make_another_letter_count(operator: User, query: str) -> None:
    for number, name in enumerate(("がくせい", "カク", "กี่", "한국")):
        shown(UserFactory(username=f"Person-{number}", display_name=name))
    assert found(query) == []


def test_every_way_to_a_display_name_keeps_the_search_up_to_date(operator: User, tmp_path: Path) -> None:
    user = UserFactory(username="Ada", display_name="Éa")
    assert found("ea")
    users.set_display_name(user=user, name="Öb", by=user)
    assert (found("ea"), len(found("ob"))) == ([], 1)
    users.change(user=user, values={"display_name": "Üc"}, by=operator)
    assert (found("ob"), len(found("uc"))) == ([], 1)
    profiles.change(profile=main_profile(user), values={"display_name": "Àd"}, by=user)
    exported = export()
    profiles.change(profile=main_profile(user), values={"display_name": ""}, by=user)
    users.set_display_name(user=user, name="", by=user)
    assert found("ad") == [(*("/Ada", "Ada"), "@Ada")]
    load(exported, tmp_path)
    assert [row[2] for name in ("ad", "uc") for row in found(name)] == ["@Ada", "@Ada · Üc"]


@pytest.mark.embedded
def test_names_of_before_the_column_are_folded_in_batches(operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "BATCH", 2)
    for number in range(5):
        UserFactory(username=f"Person-{number}", display_name=f"Ábc {number}")
    User.objects.update(display_name_folded=None)
    assert found("abc") == []
    folding.fill(User, "display_name_folded")
    assert len(found("abc")) == 5
    assert not User.objects.filter(display_name_folded=None).exists()


def test_a_search_is_one_statement(ada: User) -> None:
    assert len(statements.of(lambda: Client().get("/search?q=ada"))) == 1
