"""The whole corpus through the endpoint: what is real is taken as what it is, what is hostile is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from imagehost import media, quotas
from imagehost.models import File
from tests.imagehost import media_corpus, uploading
from tests.imagehost.media_corpus import HOSTILE_NAMES, REAL_NAMES
from tests.imagehost.media_corpus.sample import PLACE
from tests.imagehost.uploading import END, part

pytestmark = pytest.mark.django_db


def _send(name: str) -> uploading.Answer:
    """In the earlier form, whose answer says more; with the name and the type that the client claims."""
    sample = media_corpus.sample(name)
    head = part("file", b"", filename=sample.claimed_name).removesuffix(b"\r\n")
    head = head.replace(b"image/png", sample.claimed_mime.encode())
    return uploading.post(head + sample.content + b"\r\n" + END, {"key": uploading.SECRET})


@pytest.mark.parametrize("name", [*REAL_NAMES, *HOSTILE_NAMES])
def test_a_file_is_taken_as_what_it_is_or_refused(name: str, bucket_directory: Path) -> None:
    owner = uploading.uploader()
    sample = media_corpus.sample(name)
    answer = _send(name)
    if sample.mime is None or sample.extension is None:
        assert answer.outcome == (400, "INVALID_MIME"), name
        assert uploading.nothing_is_left(bucket_directory)
        return
    file = File.objects.get()
    stored = (bucket_directory / file.key).read_bytes()
    assert answer.status == 200
    assert answer.body["data"] == {
        "file": f"{file.name}.{sample.extension}",
        "fileName": file.name,
        "fileExtension": sample.extension,
        "fileSize": len(stored),
        "fileOriginal": sample.claimed_name,
        "fileWidth": sample.width,
        "fileHeight": sample.height,
    }
    assert (file.mime, file.frames) == (sample.mime, sample.frames)
    assert quotas.used(owner.pk) == len(stored) <= len(sample.content)
    assert not sample.has_gps or PLACE.encode() not in stored


def test_the_corpus_has_real_files_of_all_eight_types_and_sixty_hostile_ones() -> None:
    assert {media_corpus.sample(name).mime for name in REAL_NAMES} == set(media.BY_MIME)
    assert len(HOSTILE_NAMES) >= 60
