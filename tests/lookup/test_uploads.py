"""Files of profiles in our store: kept, counted, let go of, and swept up after crashes."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone
from pytest_django import Settings

from accounts import users
from accounts.models import AuditEvent, User
from lookup.editing import uploads
from lookup.editing.uploads import MIB, QUOTA, Facts, Kind
from lookup.models import Asset, Profile
from tests.factories import lookup as make
from tests.factories.accounts import UserFactory
from tests.support import threads

PNG = Facts("image/png", "png", 4, 4)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def directory(settings: Settings, tmp_path: Path) -> Path:
    """Where the store keeps the objects."""
    place = tmp_path / "store"
    settings.STORAGES = {
        **settings.STORAGES,
        "uploads": {"BACKEND": "imagehost.storing.storage.FolderStorage", "OPTIONS": {"location": place}},
    }
    return place


@pytest.fixture
def user(db: None) -> User:
    return UserFactory.create(username="Ada")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    return path


def kept(user: User, path: Path, kind: Kind = Kind.IMAGE, facts: Facts = PNG) -> Asset:
    path.write_bytes(b"content")
    return uploads.store(user=user, kind=kind, path=path, facts=facts, by=user)


def objects(directory: Path) -> list[str]:
    return sorted(path.relative_to(directory / "uploads").as_posix() for path in directory.rglob("*.png"))


def age(directory: Path, asset: Asset) -> None:
    """As if the object had been written a little more than a day ago."""
    written_at = (timezone.now() - DAY - timedelta(minutes=1)).timestamp()
    os.utime(directory / "uploads" / asset.path, (written_at, written_at))


def test_a_file_is_kept_counted_and_recorded(user: User, file: Path, directory: Path) -> None:
    asset = kept(user, file)
    assert (asset.size, asset.mime, asset.width, asset.height) == (7, "image/png", 4, 4)
    assert (directory / "uploads" / asset.path).read_bytes() == b"content"
    assert uploads.used_by(user) == 7
    event = AuditEvent.objects.get(verb="asset:uploaded")
    assert event.data == {"asset": asset.pk, "kind": "image", "mime": "image/png", "size": 7}


@pytest.mark.parametrize(
    ("kind", "mime", "most"),
    [
        (Kind.IMAGE, "image/png", 10),
        (Kind.BADGE, "image/png", 2),
        (Kind.BACKGROUND, "image/png", 10),
        (Kind.BACKGROUND, "video/mp4", 50),
        (Kind.AUDIO, "audio/mpeg", 20),
        (Kind.FONT, "font/woff2", 2),
    ],
)
def test_each_kind_has_its_size(kind: Kind, mime: str, most: int) -> None:
    uploads.check_size(most * MIB, kind, mime)
    with pytest.raises(ValidationError, match=rf"This file has {most}\.0 MB; at most {most} MB are allowed\."):
        uploads.check_size(most * MIB + 1, kind, mime)


def test_the_quota_is_used_to_its_last_byte_and_no_further(user: User, file: Path, directory: Path) -> None:
    make.AssetFactory.create(owner=user, size=QUOTA - 7)
    make.AssetFactory.create(owner=UserFactory.create(), size=QUOTA)
    kept(user, file)
    with pytest.raises(ValidationError, match=r"200 MB together, and 0\.0 MB are left"):
        kept(user, file)
    assert len(objects(directory)) == 1


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_of_two_uploads_at_once_only_one_gets_the_last_space(tmp_path: Path) -> None:
    user = UserFactory.create()
    make.AssetFactory.create(owner=user, size=QUOTA - 7)

    def upload(number: int) -> bool:
        try:
            kept(user, tmp_path / f"file-{number}")
        except ValidationError:
            return False
        return True

    assert sorted(threads.together(4, upload)) == [False, False, False, True]
    assert uploads.used_by(user) == QUOTA


def test_a_store_that_fails_leaves_no_row(user: User, file: Path, directory: Path) -> None:
    directory.write_bytes(b"no directory")
    with pytest.raises(ValidationError, match="could not be stored"):
        kept(user, file)
    assert not Asset.objects.exists()


def test_staff_may_keep_files_for_others_and_only_staff_for_staff(user: User, file: Path) -> None:
    staff = UserFactory.create(is_staff=True)
    assert uploads.store(user=user, kind=Kind.IMAGE, path=file, facts=PNG, by=staff).owner == user
    file.write_bytes(b"content")
    with pytest.raises(PermissionDenied):
        uploads.store(user=staff, kind=Kind.IMAGE, path=file, facts=PNG, by=user)


def test_two_rows_in_our_store_never_share_a_path(user: User) -> None:
    make.AssetFactory.create(owner=user, path="a/b.png")
    make.AssetFactory.create(owner=user, path="a/b.png", size=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        make.AssetFactory.create(owner=user, path="a/b.png", size=2)


def references(user: User, asset: Asset) -> dict[str, Any]:
    """Everything that can show a file."""
    profile = make.main_profile(user)
    made: dict[str, Any] = {
        "audio": lambda: make.AudioFactory(profile=profile, audio=asset),
        "cover": lambda: make.AudioFactory(profile=profile, cover=asset),
        "background": lambda: make.BackgroundFactory(profile=profile, asset=asset, is_active=False),
        "custom badge": lambda: make.CustomBadgeFactory(profile=profile, icon_svg="", image=asset),
        "link": lambda: make.LinkFactory(profile=profile, icon=asset, is_active=False),
        "project": lambda: make.ProjectFactory(profile=profile, icon=asset),
        "gallery": lambda: make.GalleryItemFactory(profile=profile, asset=asset),
    }
    for place in Profile.ASSETS:
        made[place] = lambda place=place: Profile.objects.filter(pk=profile.pk).update(**{place: asset})
    return made


def test_a_file_that_something_shows_is_not_let_go_of(user: User, file: Path, directory: Path) -> None:
    ways = references(user, make.AssetFactory.create(owner=user))
    assert len(ways) == len([one for one in Asset._meta.get_fields(include_hidden=True) if one.auto_created])
    for by in ways:
        asset = kept(user, file)
        references(user, asset)[by]()
        age(directory, asset)
        for days in (0, 2):
            uploads.sweep(now=timezone.now() + timedelta(days=days))
        assert uploads.release(asset.pk) == 0, by
        assert asset.path in objects(directory)


def test_a_file_is_let_go_of_when_nothing_shows_it(
    user: User, file: Path, directory: Path, django_capture_on_commit_callbacks: Any
) -> None:
    asset, other = kept(user, file), kept(user, file)
    foreign = make.AssetFactory.create(owner=user)
    with django_capture_on_commit_callbacks(execute=True):
        assert uploads.release(asset.pk, foreign.pk, None) == 1
    assert set(Asset.objects.all()) == {other, foreign}
    assert objects(directory) == [other.path]


def test_the_sweep_waits_a_day_after_the_last_use(
    user: User, file: Path, directory: Path, django_capture_on_commit_callbacks: Any
) -> None:
    asset, now = kept(user, file), timezone.now() + timedelta(days=300)
    profile = make.main_profile(user)
    with django_capture_on_commit_callbacks(execute=True):
        Profile.objects.filter(pk=profile.pk).update(avatar=asset)
        assert uploads.sweep(now=now) == (0, 0)
        Profile.objects.filter(pk=profile.pk).update(avatar=None)
        assert uploads.sweep(now=now) == (0, 0)
        assert uploads.sweep(now=now + DAY - timedelta(seconds=1)) == (0, 0)
        Profile.objects.filter(pk=profile.pk).update(avatar=asset)
        assert uploads.sweep(now=now + DAY) == (0, 0)
        Profile.objects.filter(pk=profile.pk).update(avatar=None)
        assert uploads.sweep(now=now + 2 * DAY) == (0, 0)
        assert uploads.sweep(now=now + 3 * DAY)[0] == 1
    assert objects(directory) == []


def test_objects_without_a_row_are_swept_after_a_day(user: User, file: Path, directory: Path) -> None:
    known, lost, young = kept(user, file), kept(user, file), kept(user, file)
    Profile.objects.filter(user=user).update(avatar=known)
    Asset.objects.filter(pk__in=[lost.pk, young.pk]).delete()
    for asset in (known, lost):
        age(directory, asset)
    almost = (timezone.now() - DAY + timedelta(minutes=1)).timestamp()
    os.utime(directory / "uploads" / young.path, (almost, almost))
    assert uploads.sweep(now=timezone.now()) == (0, 1)
    assert objects(directory) == sorted([known.path, young.path])


def test_files_go_with_their_account(
    user: User, file: Path, directory: Path, django_capture_on_commit_callbacks: Any
) -> None:
    stranger = kept(UserFactory.create(), file)
    kept(user, file)
    with django_capture_on_commit_callbacks(execute=True):
        users.delete(user=user, by=None)
    assert list(Asset.objects.all()) == [stranger]
    assert objects(directory) == [stranger.path]


def test_the_job_says_what_it_did(user: User, file: Path, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asset = kept(user, file)
    Asset.objects.filter(pk=asset.pk).update(unused_since=timezone.now() - timedelta(days=2))
    call_command("sweep_assets")
    reported = "Removed 1 files that nothing shows, 0 objects that nothing knows, and 0 rows of old days."
    assert reported in capsys.readouterr().out


def test_a_file_over_its_size_is_not_kept(user: User, file: Path) -> None:
    with file.open("wb") as output:
        output.truncate(2 * MIB + 1)
    with pytest.raises(ValidationError, match="at most 2 MB"):
        uploads.store(user=user, kind=Kind.FONT, path=file, facts=Facts("font/woff2", "bin"), by=user)
    assert not Asset.objects.exists()
