"""What is wrong with a file or a line: the sentence that says so, and nothing written."""

from __future__ import annotations

import copy
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from accounts.models import User
from lookup.models import Asset, Badge, Profile
from lookup.transfer import reading
from lookup.transfer.reading import LineRefused
from tests.lookup.transfer_files import export, load, refusal
from tests.lookup.transfer_line import (
    ALIAS_PROFILE,
    AUTHOR,
    PROFILE,
    SECOND,
    USER,
    changed,
    comment,
    line,
    new_id,
    second,
    text_of,
)

HEX = "Must be an id of 32 lower-case hexadecimal characters."
MOMENT = "Must be a timestamp such as 2024-05-01T12:30:00Z or 2024-05-01T12:30:00.250+02:00."
CDN = f"Must lie under UPLOAD_CDN_URL, which is set to {settings.UPLOAD_CDN_URL}."
BEHIND = "Behind UPLOAD_CDN_URL, use a path of letters, digits and . _ ~ - / (at most 400 characters)."
UNSTORABLE = "Contains a character that cannot be stored (NUL or half of a surrogate pair)."
MIRROR = "Must be true where profile.avatar is the picture of the chat platform, and false where it is not."
AVATAR = "Must be the URL of profile.avatar, or null where that is null."
UPLOADS = settings.UPLOAD_CDN_URL
ASSETS = settings.ASSET_URL
# Path, the value put there, what is said of it; `...` takes it away.
REFUSED: list[tuple[str, Any, str]] = [
    *(("version", wrong, "version: Must be an integer.") for wrong in (None, "1", True, 0.5)),
    ("version", 0, "version: Must be between 1 and 1."),
    ("error", "User not found.", "error: Must be null."),
    ("user", ..., "user: Is missing."),
    ("user", [], "user: Must be an object."),
    ("extra", 1, "extra: Unknown name."),
    ("user.id", "A" * 32, f"user.id: {HEX}"),
    ("links.1.id", "b" * 33, f"links.1.id: {HEX}"),
    ("user.uid", 5.5, "user.uid: Must be an integer."),
    ("user.uid", True, "user.uid: Must be an integer."),
    ("user.uid", -1, "user.uid: Must be between 0 and 9007199254740990."),
    ("user.username", "a b", "user.username: Must have 1 to 32 letters, digits, dots, hyphens or underscores."),
    ("user.username", "Admin", "user.username: This name is reserved."),
    ("user.username", "Zed", "aliases.0.name: Is the username."),
    ("user.name", "", "user.name: Must not be empty."),
    ("user.name", "n" * 65, "user.name: Has 65 characters; at most 64 are allowed."),
    ("user.avatarUrl", None, f"user.avatarUrl: {AVATAR}"),
    ("user.chatId", "12a", "user.chatId: Must be the digits of a chat-platform id."),
    ("user.createdAt", "2020-01-01T00:00:00", f"user.createdAt: {MOMENT}"),
    ("user.createdAt", "2020-02-30T00:00:00Z", "user.createdAt: Not a valid timestamp."),
    ("user.createdAt", "9999-12-31T23:59:59-01:00", "user.createdAt: Not a valid timestamp."),
    ("profile.description", "a\x00b", f"profile.description: {UNSTORABLE}"),
    ("profile.avatar", None, f"user.avatarUrl: {AVATAR}"),
    ("profile.banner.url", "https://elsewhere.example/b.png", f"profile.banner.url: {CDN}"),
    ("profile.banner.url", f"{UPLOADS}/a/../b.png", f"profile.banner.url: {BEHIND}"),
    ("profile.banner.url", f"{UPLOADS}/{'a' * 401}", f"profile.banner.url: {BEHIND}"),
    ("profile.banner.width", -1, "profile.banner.width: Must be between 0 and 2147483647."),
    ("profile.banner.duration", -0.5, "profile.banner.duration: Must be between 0 and 9007199254740991."),
    ("profile.settings", [], "profile.settings: Must be an object."),
    ("profile.settings.cardSettings.blur", 101, "profile.settings.cardSettings.blur: Must be between 0 and 100."),
    ("profile.settings.newSettings", {}, "profile.settings.newSettings: Unknown setting."),
    (
        "profile.settings.avatarSettings.mirrorChat",
        True,
        f"profile.settings.avatarSettings.mirrorChat: {MIRROR}",
    ),
    ("badges.0.type", "OTHER", "badges.0.type: Must be one of: STANDARD, CUSTOM."),
    ("badges.0.badgeId", None, "badges.0.badgeId: Must not be null on a badge of the catalog."),
    ("badges.0.imageUrl", f"{ASSETS}/badges/a/b/c", f"badges.0.imageUrl: Must be {ASSETS}/badges/<catalog>/<file>."),
    (
        "badges.0.tiers.1.imageUrl",
        f"{ASSETS}/badges/other/x.svg",
        "badges.0.tiers.1.imageUrl: Must lie in the catalog of the badge.",
    ),
    ("badges.0.selectedTier", 2, "badges.0.tiers.0.selected: Must match selectedTier."),
    ("badges.0.tiers.2.tier", 1, "badges.0.tiers.2.tier: Duplicate value."),
    ("badges.0.color", "red", "badges.0.color: Use a color such as #1b5e4b."),
    ("badges.1.badgeId", "x", "badges.1.badgeId: Must be null on a CUSTOM badge."),
    ("badges.1.iconSvg", "<svg onload='x'/>", "badges.1.iconSvg: The attribute onload is not allowed."),
    ("links.0.url", "javascript:alert(1)", "links.0.url: Enter a valid URL."),
    ("links.1.id", new_id(50), "links.1.id: Duplicate value."),
    ("projects.0.tags", "a", "projects.0.tags: Must be a list of strings."),
    ("views", 1e300, "views: Must be between 0 and 9007199254740991."),
    ("aliases.1.name", "zED", "aliases.1.name: Duplicate value."),
    ("aliases.0.profileId", ALIAS_PROFILE, "aliases.1.profileId: Duplicate value."),
    ("aliases.0.profileId", PROFILE, "aliases.0.profileId: Is the main profile."),
    ("gallery.0.width", "wide", "gallery.0.width: Must be one of: half, full, quad."),
    (
        "gallery.0.caption",
        "Another",
        "gallery: Must begin with the items of the gallery sections, section by section, in the same order.",
    ),
    ("sections.0.title", ..., "sections.0.title: Is missing."),
    ("sections.0.skills.frontend", [5], "sections.0.skills.frontend: Entry 1: Must be a string."),
    ("sections.0.enabled", False, "sections.0.enabled: Must be true: lookups never show a disabled section."),
    ("sections.0.widgetIds", [new_id(5)], "sections.0.widgetIds: Names a row that is not among the widgets."),
    ("sections.4.content", "x", "sections.4.content: Unknown name."),
    ("sections.0.alignment", "top", "sections.0.alignment: Must be one of: left, center, right."),
    ("sections.5.games.0.released", "1999-13-01", "sections.5.games.0.released: Not a valid date."),
    ("sections.8.music.0.kind", "song", "sections.8.music.0.kind: Must be one of: track, album, artist."),
    ("sections.8.music.2.album", "A", "sections.8.music.2.album: Unknown name."),
    ("comments.count", 2, "comments.count: Must not be less than the number of items."),
    (
        "comments.items.0.author.uid",
        8,
        "comments.items.1.author: Another comment of this line says something else of this author.",
    ),
    (
        "comments.items.0.author.id",
        USER,
        "comments.items.0.author: Is the user of this line, of whom user says something else.",
    ),
    ("comments.items.0.author.avatarUrl", "/x", f"comments.items.0.author.avatarUrl: {CDN}"),
]


def problems_of(whole: dict[str, Any]) -> list[str]:
    """What is said of a line, by its reader alone."""
    with pytest.raises(LineRefused) as refused:
        reading.read(1, text_of(whole).encode())
    return [": ".join(problem) for problem in refused.value.problems]


@pytest.mark.parametrize(("path", "value", "said"), REFUSED, ids=[f"{n}-{row[0]}" for n, row in enumerate(REFUSED)])
def test_a_bad_line_is_refused_by_path(path: str, value: object, said: str) -> None:
    assert said in problems_of(changed(path, value))


def test_the_image_host_without_premium() -> None:
    bad = line()
    bad["user"] |= {"premium": False, "imagehost": True}
    said = "user.premium: Must be true where user.imagehost is: that plan holds what premium holds."
    assert problems_of(bad) == [f"{said}"]


def test_a_badge_or_a_link_with_an_image_and_an_icon() -> None:
    bad = line()
    bad["badges"][2]["iconSvg"] = bad["badges"][1]["iconSvg"]
    bad["links"][1]["icon"] = bad["links"][0]["icon"]
    assert problems_of(bad) == [
        "badges.2.iconSvg: Must be null where there is an image.",
        "links.1.iconSvg: Must be null where there is an icon.",
    ]


def test_the_mirrored_picture_of_somebody_else() -> None:
    bad = line()
    url = f"{settings.BASE_URL}/api/chat/avatar/{AUTHOR}"
    bad["user"]["avatarUrl"] = bad["profile"]["avatar"]["url"] = url
    bad["profile"]["settings"]["avatarSettings"]["mirrorChat"] = True
    wanted = f"{settings.BASE_URL}/api/chat/avatar/{USER}"
    assert problems_of(bad) == [f"profile.avatar.url: Must be {wanted} for this user."]


def test_two_sections_that_say_different_things_of_one_game() -> None:
    bad = line()
    bad["sections"].append(copy.deepcopy(bad["sections"][5]) | {"id": new_id(99), "order": 99})
    bad["sections"][9]["games"][0]["rating"] = 1
    said = "sections.9.games.0: Another section of this line says something else of this entry."
    assert problems_of(bad) == [f"{said}"]


@pytest.mark.django_db
def test_at_most_20_problems_of_a_line_are_reported(tmp_path: Path) -> None:
    said = refusal(json.dumps({f"k{number}": 1 for number in range(50)}), tmp_path)
    assert (len(said), said[-1]) == (21, "line 1: And 45 more problems.")


@pytest.mark.django_db
def test_nothing_is_written_for_a_refused_line(tmp_path: Path) -> None:
    bad = changed("comments.items.2.author.uid", 99)
    bad["comments"]["items"][2]["author"] |= {"id": new_id(200), "username": "Hand.Written"}
    said = refusal(text_of(bad), tmp_path)
    assert said == [
        f"line 1: comments.items.2.author.username: The name HAND.WRITTEN belongs to {USER}, not to {new_id(200)}."
    ]
    for model in (User, Profile, Asset, Badge):
        assert not model._default_manager.exists()


# The text of the line, and the problem.
NOT_READ: list[tuple[bytes, str]] = [
    (b"{", "Is not JSON: Expecting property name enclosed in double quotes at character 2."),
    (b"\xff{}", "Is not UTF-8."),
    (b"[]", "Must be an object."),
    (b'{"a":NaN}', "Is not JSON that can be read: NaN is no number of JSON."),
    (b'{"a":' + b"9" * 5000 + b"}", "Is not JSON that can be read: a number has too many digits."),
    (b"[" * 100_000, "Is not JSON that can be read: it is nested too deep."),
    (b'{"user":{"id":1,"id":2}}', "user.id: Appears twice."),
    (b'{"links":[{},{"url":1,"\\u0075rl":1}],"a":1,"a":1}', "links.1.url: Appears twice."),
    (b"{} {}", "Is not JSON: Extra data at character 4."),
    (b'{"a":"\x01"}', "Is not JSON: Invalid control character at at character 7."),
    (b'{"a":"' + b"x" * 10_000_000 + b'"}', "Has more than 8388608 bytes."),
]


@pytest.mark.django_db
@pytest.mark.parametrize(("text", "said"), NOT_READ, ids=[f"{text!r:.30}" for text, _ in NOT_READ])
def test_what_cannot_be_read_is_refused_with_a_sentence(text: bytes, said: str) -> None:
    with pytest.raises(LineRefused) as refused:
        reading.read(1, text)
    assert said in [": ".join(filter(None, problem)) for problem in refused.value.problems]


@pytest.mark.django_db
def test_a_line_that_cannot_be_read_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    found = refusal(b"\xff{}\n" + text_of(line()).encode(), tmp_path)
    assert found == ["line 1: Is not UTF-8."]
    assert User.objects.count() == 2


@pytest.mark.django_db
def test_a_number_beyond_all_floats_is_out_of_bounds() -> None:
    text = text_of(changed("views", 12345678987)).replace("12345678987", "1e999")
    with pytest.raises(LineRefused) as refused:
        reading.read(1, text.encode())
    assert refused.value.problems == [("views", "Must be an integer.")]


@pytest.mark.django_db
def test_a_byte_order_mark_line_ends_of_windows_and_empty_lines_do_no_harm(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf" + text_of(line()).encode().replace(b"\n", b"\r\n") + b"\r\n \n" + b"{}\r\n\n"
    assert refusal(text, tmp_path)[0] == "line 4: error: Is missing."
    assert User.objects.count() == 2


@pytest.mark.django_db
def test_a_line_that_is_too_long_is_not_read_into_memory() -> None:
    file = io.BytesIO(b"x" * (3 * reading.MAX_BYTES) + b"\n{}\n")
    found = list(reading.lines(file))
    assert [(number, len(text)) for number, text in found] == [(1, reading.MAX_BYTES + 2), (2, 2)]


@pytest.mark.django_db
def test_a_file_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="/nowhere/x cannot be read: No such file or directory"):
        call_command("import_profiles", "/nowhere/x")


@pytest.mark.django_db
def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text_of(line()).rstrip("\n").encode())))
    out = io.StringIO()
    call_command("import_profiles", "-", stdout=out)
    assert out.getvalue() == "Imported 1 profiles, 1 of them new.\n"


@pytest.mark.django_db
def test_two_new_authors_with_one_uid(tmp_path: Path) -> None:
    items = [comment(80), comment(81, author={**comment(81)["author"], "id": "9" * 32, "username": "New"})]
    said = f"line 1: comments.items.1.author.uid: The uid 7 belongs to {AUTHOR}, not to {'9' * 32}."
    assert refusal(text_of(line(comments={"count": 2, "items": items})), tmp_path) == [said]


@pytest.mark.django_db
def test_an_author_of_two_lines_has_one_uid(tmp_path: Path) -> None:
    other = second()
    for item in other["comments"]["items"]:
        item["author"]["uid"] = 8
    said = f"line 2: comments.items.0.author.uid: The user {AUTHOR} has the uid 7 here, not 8."
    assert said in refusal(text_of(line(), other), tmp_path, "--check")


@pytest.mark.django_db
def test_an_author_whose_own_line_comes_later_is_what_that_says(tmp_path: Path) -> None:
    author = copy.deepcopy(second(id=AUTHOR, uid=7, username="Author", name=None))
    for other_files in (False, True):
        lines = [text_of(line()), text_of(author)]
        for text in lines if other_files else ["".join(lines)]:
            load(text, tmp_path)
        assert Profile.objects.get(user=AUTHOR, is_main=True).pk == "2" * 32
        before = export()
        load(before, tmp_path)
        assert export() == before
        User.objects.all().delete()


@pytest.mark.django_db
def test_a_refused_line_takes_nothing_from_the_lines_after_it(tmp_path: Path) -> None:
    bad = changed("comments.items.0.author.id", new_id(7))
    bad["comments"]["items"][0]["author"]["uid"] = 41
    said = refusal(text_of(bad, second(uid=41, username="Hand.Written")), tmp_path)
    assert {one.partition(":")[0] for one in said} == {"line 1"}
    assert User.objects.filter(username="Hand.Written").get().pk == SECOND


@pytest.mark.django_db
def test_a_check_writes_nothing_and_sees_conflicts_across_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lookup.transfer.importing.BATCH_LINES", 1)
    out, err = load(text_of(line(), second()), tmp_path, "--check")
    assert (out, err) == ("Could import 2 profiles, 2 of them new.\n", "")
    said = refusal(text_of(line(), second(uid=41)), tmp_path, "--check")
    assert said == [f"line 2: user.uid: The uid 41 belongs to {USER}, not to {SECOND}."]
    assert not User.objects.exists()


@pytest.mark.django_db
def test_what_lookups_say_in_another_way_is_a_warning(tmp_path: Path) -> None:
    odd = line()
    odd["projects"].reverse()
    odd["badges"][0]["unlockedTiers"] = [3, 1]
    odd["comments"]["items"].reverse()
    assert load(text_of(odd), tmp_path)[1].splitlines() == [
        "line 1: projects: Warning: Lookups show them by order, then by id.",
        "line 1: badges.0.unlockedTiers: Warning: Lookups show them in ascending order, each once.",
        "line 1: comments.items: Warning: Lookups show pinned ones first, then the newest.",
    ]
