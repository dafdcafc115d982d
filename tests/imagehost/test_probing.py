"""What is found out about files of all eight types, by content, and what happens to the process that does it."""

from __future__ import annotations

import io
import os
import select
import signal
import struct
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from PIL import Image

from imagehost import media
from imagehost.examining import probing
from imagehost.examining.prober import client, errors, images, videos
from imagehost.media import FileFacts
from tests.imagehost import media_corpus
from tests.imagehost.media_corpus import Sample, pieces, real_images
from tests.imagehost.media_corpus.sample import PLACE
from tests.support import threads


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    """Where an upload lies, without any extension."""
    return tmp_path / "upload"


def expected(sample: Sample, found: FileFacts) -> FileFacts:
    """What the sample says, with the found duration where it is near enough."""
    said, measured = sample.duration_ms, found.duration_ms
    if said is not None and measured is not None and abs(said - measured) <= sample.duration_slack_ms:
        said = measured
    return FileFacts(sample.mime or "", sample.width, sample.height, said, sample.frames)


def size_of(preview: probing.Preview) -> tuple[int, int]:
    with Image.open(io.BytesIO(preview.content), formats=["WEBP"]) as image:
        assert (preview.width, preview.height) == image.size
        return image.size


@pytest.mark.parametrize("name", media_corpus.TAKEN_NAMES)
def test_a_file_is_taken_as_what_it_is_and_gets_a_preview_of_its_shape(name: str, upload: Path) -> None:
    """Its place is gone then, probing it again finds the same, and a preview only reads it."""
    sample = media_corpus.sample(name)
    upload.write_bytes(sample.content)
    found = probing.probe(upload)
    assert found == expected(sample, found)
    stripped = upload.read_bytes()
    assert PLACE.encode() not in stripped
    assert b"Camera Maker" not in stripped
    assert probing.probe(upload) == found
    if name in media_corpus.BROKEN_NAMES:
        with pytest.raises(probing.InvalidMedia):
            probing.render(upload, found.media_type)
    else:
        shown = sample.width, sample.height
        if name in media_corpus.LARGE_NAMES:
            shown = (640 * sample.width // max(shown), 640 * sample.height // max(shown))
        assert size_of(probing.render(upload, found.media_type)) == shown
    assert upload.read_bytes() == stripped


def test_pillow_s_picture_is_freed_before_ffmpeg_draws_a_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoders of both at once need more memory than a child has."""
    pictures: list[weakref.ref[Image.Image]] = []

    def too_large(image: Image.Image, longest_side: int) -> Image.Image:
        pictures.append(weakref.ref(image))
        raise MemoryError

    def poster(*_: object) -> list[bool]:
        return [picture() is None for picture in pictures]

    monkeypatch.setattr(images, "_reduced", too_large)
    monkeypatch.setattr(videos, "poster", poster)
    content = real_images.encoded(media.WEBP, real_images.picture())
    assert images.thumbnail(io.BytesIO(content), media.WEBP, 640) == [True]


def test_the_delay_of_a_png_s_frame_counts_hundredths_where_it_names_no_unit() -> None:
    frames = [pieces.png_chunk(b"fcTL", bytes(20) + struct.pack(">HH", 8, unit) + bytes(2)) for unit in (0, 100, 1000)]
    file = io.BytesIO(pieces.png(*frames))
    assert images.measure(file, media.PNG, 1) == (3, 80 + 80 + 8)


@pytest.mark.parametrize(("seconds", "kept"), [(-1, None), (0, 0), (2**31 - 1, 2**31 - 1), (2**31, None)])
def test_a_duration_that_no_film_has_is_none(seconds: int, kept: int | None) -> None:
    assert errors.believable(seconds) == kept


@pytest.fixture
def png(upload: Path) -> Path:
    upload.write_bytes(media_corpus.sample("png-rgb").content)
    return upload


FOUND = FileFacts("image/png", 48, 32, None, 1)


def zygote() -> int:
    assert client._zygote is not None
    return client._zygote.process.pid


def test_many_threads_ask_at_once(png: Path, tmp_path: Path) -> None:
    def ask(number: int) -> tuple[FileFacts, int]:
        copy = tmp_path / str(number)
        copy.write_bytes(png.read_bytes())
        return probing.probe(copy), zygote()

    assert threads.together(4, ask) == [(FOUND, zygote())] * 4


def test_a_zygote_that_was_killed_is_replaced(png: Path) -> None:
    probing.probe(png)
    killed = zygote()
    os.kill(killed, signal.SIGKILL)
    assert probing.probe(png) == FOUND
    assert zygote() != killed
    assert not Path(f"/proc/{killed}").exists()  # nor is it left as a zombie


def open_files() -> list[str]:
    return sorted(entry.name for entry in Path("/proc/self/fd").iterdir())


def test_nothing_is_left_open_and_no_caller_waits(png: Path, tmp_path: Path) -> None:
    probing.probe(png)
    before = open_files()
    refused = tmp_path / "refused"
    refused.write_bytes(b"text")
    for _ in range(5):
        probing.probe(png)
        with pytest.raises(probing.InvalidMedia):
            probing.probe(refused)
        with pytest.raises(probing.ProberFailed):
            probing.probe(tmp_path / "missing")
    assert open_files() == before
    assert Path(f"/proc/{zygote()}/task/{zygote()}/children").read_text() == ""


def test_a_process_that_was_forked_has_a_zygote_of_its_own(png: Path) -> None:
    probing.probe(png)
    ours = zygote()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, f"{probing.probe(png) == FOUND} {zygote() != ours}".encode())
            client._forget(client._zygote)
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as output:
        assert output.read() == "True True"
    os.waitpid(pid, 0)
    assert probing.probe(png) == FOUND
    assert zygote() == ours


PARENT = """
import sys
from pathlib import Path
from imagehost.examining import probing
from imagehost.examining.prober import client
probing.probe(Path(sys.argv[1]))
print(client._zygote.process.pid, flush=True)
sys.stdin.read()
"""


def test_a_zygote_ends_with_its_parent_even_when_that_is_killed(png: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(png)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        handle = os.pidfd_open(pid)
        parent.kill()
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    ended = poll.poll(10_000)
    os.close(handle)
    assert ended


def test_the_zygote_inherits_no_secret(png: Path) -> None:
    probing.probe(png)
    environment = Path(f"/proc/{zygote()}/environ").read_bytes()
    names = {entry.partition(b"=")[0] for entry in environment.split(b"\0") if entry}
    assert b"SECRET_KEY" in Path("/proc/self/environ").read_bytes() or "SECRET_KEY" in os.environ
    assert names == {b"PATH", b"PYTHONPATH", b"PYTHONDONTWRITEBYTECODE"}


@pytest.mark.parametrize("kind", ["missing", "directory", "link"])
def test_a_path_without_a_file_is_our_own_trouble(kind: str, png: Path, tmp_path: Path) -> None:
    path = tmp_path / kind
    if kind == "directory":
        path.mkdir()
    if kind == "link":
        path.symlink_to(png)
    with pytest.raises(probing.ProberFailed, match="cannot be opened"):
        probing.probe(path)
