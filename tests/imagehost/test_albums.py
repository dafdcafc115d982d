"""Albums: their operations, their limits and races, and the public page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from accounts import users
from accounts.models import AuditEvent, User
from imagehost import media
from imagehost.folders import albums, folders
from imagehost.folders.folders import Changes
from imagehost.models import Album, File
from imagehost.storing import files
from tests.factories.accounts import UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.imagehost.public_pages import BASE, PASSWORD, PREVIEW, messenger_tags, stored, unlocked
from tests.lookup import statements
from tests.pages.markup import page_of, problems_of
from tests.support.threads import together

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def made(owner: User, *held: File, title: str = "Summer") -> Album:
    return albums.create(owner=owner, title=title, files=held, now=NOW)


def page(album: Album, client: Client | None = None, query: str = "") -> Any:
    """Any: the test client's answer."""
    return (client or Client()).get(f"/files/albums/{album.link}{query}")


def shown(answer: Any) -> list[str]:
    """The names that the page's tiles lead to; any: as above."""
    links = page_of(answer).xpath("//ul[@class='file-tiles']/li/a/@href")
    return [link.removeprefix("/files/").partition("?in=")[0] for link in links]


@pytest.mark.embedded
def test_a_page_shows_its_files_in_their_order_by_two_queries(user: User) -> None:
    first = stored(owner=user, name="First123", preview=PREVIEW, media=media.WEBP)
    second = FileFactory(folder=FolderFactory(owner=user, name="Private one"), name="Second12")
    album = made(user, second, first, FileFactory())
    answer = page(album)
    assert (answer.status_code, problems_of(answer), shown(answer)) == (200, [], ["Second12", "First123"])
    assert answer.headers["Cache-Control"] == "private, no-cache"
    tags = messenger_tags(answer)
    assert (tags["robots"], tags["og:title"], tags["og:url"]) == (
        "noindex",
        "Summer",
        f"{BASE}/files/albums/{album.link}",
    )
    assert tags["og:image"] == f"{BASE}/media/Second12.png"
    assert tags["og:description"] == f"2 files by {user.get_full_name()}"
    markdown = page_of(answer).xpath("string(//input[@id='copy-markdown']/@value)")
    assert markdown == f"[![Summer]({tags['og:image']})]({tags['og:url']})"
    assert b"Private one" not in answer.content
    assert statements.names(lambda: page(album)) == ["SELECT imagehost_album", "SELECT imagehost_file"]


def test_a_file_that_is_deleted_quarantined_or_expired_is_absent(user: User) -> None:
    kept, gone, *rest = (FileFactory(owner=user) for _ in range(4))
    album = made(user, kept, gone, *rest)
    files.delete(file=gone, by=None)
    for file, column in zip(rest, ("quarantined_at", "expires_at"), strict=True):
        File.objects.filter(pk=file.pk).update(**{column: NOW})
    answer = page(album)
    assert shown(answer) == [kept.name]
    assert messenger_tags(answer)["og:description"].startswith("1 file by")


def test_what_is_no_album_one_of_a_banned_owner_and_an_old_link_are_404(user: User, client: Client) -> None:
    for link in ("0" * 32, "x", "' OR 1=1", "A" * 32):
        assert client.get(f"/files/albums/{link}").status_code == 404
    album = made(user, FileFactory(owner=user))
    new = albums.reset_link(owner=user, album_id=album.pk, now=NOW)
    assert (page(album).status_code, page(new).status_code) == (404, 200)
    User.objects.filter(pk=user.pk).update(is_active=False, banned_at=NOW)
    assert page(new).status_code == 404


def test_a_file_in_a_locked_folder_is_named_by_its_link_until_it_is_unlocked(user: User) -> None:
    folder = FolderFactory(owner=user, password=PASSWORD)
    locked = stored(folder=folder, name="Picture1", original_name="blueprint.png", preview=PREVIEW)
    album = made(user, locked)
    answer = page(album)
    assert shown(answer) == ["Picture1"]
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert "Picture1.png" in page_of(answer).xpath("string(//ul[@class='file-tiles'])")
    for secret in (b"blueprint", b"preview.webp", b"/media/Picture1", b"og:image", folder.pk.encode()):
        assert secret not in answer.content
    seen = page(album, unlocked(folder.pk))
    assert b"blueprint" in seen.content
    assert page_of(seen).xpath("//ul[@class='file-tiles']//img/@src") == ["/files/Picture1/preview.webp"]
    assert "og:image" not in messenger_tags(seen)
    folders.change(owner_id=user.pk, folder_id=folder.pk, changes=Changes(is_password_enabled=False), now=NOW)
    assert messenger_tags(page(album))["og:image"] == f"{BASE}/media/Picture1.png"


def test_pages_reached_from_the_album_lead_on_in_it(user: User, client: Client) -> None:
    one, two, three = (FileFactory(owner=user) for _ in range(3))
    album = made(user, two, three, one)

    def ways(file: File) -> list[str]:
        found: list[str] = page_of(client.get(f"/files/{file.name}?in={album.link}")).xpath("//nav//a[@rel]/@href")
        return found

    assert ways(two) == [f"/files/{three.name}?in={album.link}"]
    assert ways(three) == [f"/files/{file.name}?in={album.link}" for file in (two, one)]
    assert ways(FileFactory(owner=user)) == []
    asked = statements.names(lambda: client.get(f"/files/{two.name}?in={album.link}"))
    assert asked == ["SELECT imagehost_file", "SELECT imagehost_album", "SELECT imagehost_file"]


def test_files_are_added_moved_and_removed(user: User) -> None:
    one, two, three = (FileFactory(owner=user) for _ in range(3))
    album = made(user, one)
    where: Any = {"owner": user, "album_id": album.pk, "now": NOW}
    assert albums.add(**where, files=[two, one, three, FileFactory()]) == 2
    albums.move(**where, name=three.name, places=-5)
    albums.remove(**where, name=two.name)
    files.delete(file=one, by=user)
    albums.add(**where, files=[two])
    album.refresh_from_db()
    assert album.ids() == [three.pk, two.pk]
    with pytest.raises(File.DoesNotExist):
        albums.remove(**where, name=one.name)
    with pytest.raises(File.DoesNotExist):
        albums.move(**where, name="x", places=1)
    with pytest.raises(Album.DoesNotExist):
        albums.add(owner=UserFactory(), album_id=album.pk, files=[], now=NOW)


def test_a_title_is_one_line(user: User) -> None:
    for title in ("", "  ", "a\nb", "x" * 81, "a\u202eb"):
        with pytest.raises(ValidationError):
            made(user, title=title)
    assert made(user, title=" " + "x" * 80).title == "x" * 80


def test_limits(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(albums, "MAX_FILES", 2)
    monkeypatch.setattr(albums, "MAX_ALBUMS", 1)
    held = [FileFactory(owner=user) for _ in range(3)]
    album = made(user, *held[:2])
    with pytest.raises(ValidationError, match="at most 2 files"):
        albums.add(owner=user, album_id=album.pk, files=held, now=NOW)
    with pytest.raises(ValidationError, match="1 albums"):
        made(user)
    files.delete(file=held[0], by=user)
    assert albums.add(owner=user, album_id=album.pk, files=held[2:], now=NOW) == 1


@pytest.mark.django_db(transaction=True)
def test_two_browsers_add_at_once_and_nothing_is_lost(user: User) -> None:
    held = [FileFactory(owner=user) for _ in range(4)]
    album = made(user)
    together(4, lambda number: albums.add(owner=user, album_id=album.pk, files=[held[number]], now=NOW))
    album.refresh_from_db()
    assert set(album.ids()) == {file.pk for file in held}


def test_a_deleted_account_takes_its_albums_along(user: User) -> None:
    album = made(user, FileFactory(owner=user))
    users.delete(user=user, by=None)
    assert not Album.objects.filter(pk=album.pk).exists()


def test_staff_delete_an_album_with_a_reason(user: User) -> None:
    album = made(user, file := FileFactory(owner=user))
    boss = UserFactory(is_staff=True)
    albums.delete_by_staff(album=album, by=boss, reason="Reported.")
    albums.delete_by_staff(album=album, by=boss, reason="Twice.")
    [event] = AuditEvent.objects.filter(verb="album:deleted")
    assert (event.reason, event.object_name, event.data["files"]) == ("Reported.", "Summer", 1)
    assert File.objects.ready().filter(pk=file.pk).exists()
