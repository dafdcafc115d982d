"""Whether hosts share the folder of the files is noticed by a mark that one host leaves and the others look for."""

from pathlib import Path

import pytest
from django.core.cache import cache

from imagehost.storing.storage import FolderStorage, sharing
from tests.support.threads import together

pytestmark = pytest.mark.embedded


@pytest.fixture(autouse=True)
def _no_mark_yet() -> None:
    cache.delete("files-mark-files")


def host(directory: Path) -> FolderStorage:
    return FolderStorage(location=directory)


def is_shared(folder: FolderStorage) -> bool:
    return sharing.is_shared(folder, name="files")


def marks_in(directory: Path) -> int:
    return len(list(Path(directory, sharing.MARKS).iterdir()))


def test_hosts_with_one_folder_share_it(tmp_path: Path) -> None:
    first, second = host(tmp_path), host(tmp_path)
    assert [is_shared(each) for each in (first, second, first)] == [True, True, True]
    assert marks_in(tmp_path) == 1
    assert list(first.entries("")) == []


def test_a_host_with_a_disk_of_its_own_does_not(tmp_path: Path) -> None:
    first, second = host(tmp_path / "first"), host(tmp_path / "second")
    assert [is_shared(each) for each in (first, second, first)] == [True, False, True]


def test_only_who_finds_the_mark_renews_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = host(tmp_path / "first"), host(tmp_path / "second")
    assert is_shared(first)
    renewed = list[str]()
    monkeypatch.setattr(cache, "touch", lambda key, timeout: renewed.append(key), raising=False)
    assert not is_shared(second)
    assert renewed == []
    assert is_shared(first)
    assert renewed == ["files-mark-files"]


def test_a_new_mark_replaces_the_old_one(tmp_path: Path) -> None:
    folder = host(tmp_path)
    for _ in range(3):
        assert is_shared(folder)
        cache.delete("files-mark-files")
    assert marks_in(tmp_path) == 1


def test_hosts_that_look_at_once_agree(tmp_path: Path) -> None:
    assert together(6, lambda number: is_shared(host(tmp_path))) == [True] * 6
    assert marks_in(tmp_path) == 1
    assert is_shared(host(tmp_path))


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(OSError, match="Not a directory"):
        is_shared(host(tmp_path / "file"))
