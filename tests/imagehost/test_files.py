"""What happens to files after their upload, whoever asks for it."""

from pathlib import Path

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts import users
from accounts.models import AuditEvent, User
from imagehost.models import File, Folder, State
from imagehost.storing import files, quotas
from tests.factories.accounts import StaffFactory, UserFactory
from tests.factories.imagehost import FileFactory, FolderFactory
from tests.support.threads import together

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    user: User = UserFactory()
    return user


def test_a_deletion_gives_the_bytes_back_once(owner: User) -> None:
    kept, gone = FileFactory(owner=owner, size=100), FileFactory(owner=owner, size=7)
    assert quotas.used(owner.pk) == 107
    assert [files.delete(file=gone, by=owner) for _ in range(2)] == [True, False]
    assert quotas.used(owner.pk) == 100
    assert list(File.objects.ready()) == [kept]
    assert not AuditEvent.objects.exists()


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_of_four_deletions_at_once_one_gives_the_bytes_back(owner: User) -> None:
    FileFactory(owner=owner, size=100)
    gone = FileFactory(owner=owner, size=7)
    assert sorted(together(4, lambda number: files.delete(file=gone, by=owner))) == [False] * 3 + [True]
    assert quotas.used(owner.pk) == 100


def test_a_deletion_by_staff_is_written_down(owner: User) -> None:
    file = FileFactory(owner=owner, size=7)
    staff = StaffFactory()
    files.delete(file=file, by=staff, reason="Spam")
    event = AuditEvent.objects.get()
    assert (event.verb, event.actor, event.reason, event.object_id) == ("file:deleted", staff, "Spam", str(file.pk))
    assert event.data == {"owner": owner.pk, "size": 7}


def test_a_file_that_is_not_stored_yet_is_not_deleted_but_undone(owner: User) -> None:
    file = FileFactory(owner=owner, state=State.PENDING)
    assert not files.delete(file=file, by=owner)
    assert [files.undo(file=file) for _ in range(2)] == [True, False]
    assert quotas.used(owner.pk) == 0


def test_files_move_into_ones_own_folders_only(owner: User) -> None:
    mine, theirs = FileFactory(owner=owner), FileFactory()
    folder = FolderFactory(owner=owner)
    assert files.move(owner=owner, files=[mine, theirs], folder=folder) == 1
    assert list(folder.files.all()) == [mine]
    with pytest.raises(Folder.DoesNotExist):
        files.move(owner=owner, files=[mine], folder=FolderFactory())
    assert files.move(owner=owner, files=[mine], folder=None) == 1
    assert not folder.files.exists()


def test_the_files_of_a_deleted_account_go_with_it(
    owner: User,
    bucket_directory: Path,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of them at once; the job finds the others, which have no owner any more."""
    monkeypatch.setattr(files, "REMOVED_AT_ONCE", 2)
    other = FileFactory()
    unfinished = FileFactory(owner=owner, state=State.PENDING)
    folder = FolderFactory(owner=owner)
    for file in [*FileFactory.create_batch(3, owner=owner, folder=folder), unfinished, other]:
        place = bucket_directory / file.key
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"x" * file.size)
    with django_capture_on_commit_callbacks(execute=True):
        users.delete(user=owner, by=None)
    left = list(File.objects.exclude(pk=other.pk))
    assert [(file.state, file.owner, file.folder) for file in left] == [(State.DELETED, None, None)] * 2
    stored = {path.relative_to(bucket_directory).as_posix() for path in bucket_directory.rglob("*.*")}
    assert stored == {other.key, *(file.key for file in left)}
