"""Hostile files are refused, and cost little; the child that reads them can do nothing else."""

import contextlib
import functools
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from accounts.plans import MEGABYTE
from imagehost import media
from imagehost.examining import probing
from imagehost.examining.prober import client, errors
from tests.imagehost import media_corpus

ROOT = Path(__file__).parents[2]
Rendering = Callable[[], tuple[int, Future[probing.Preview]]]


@pytest.fixture
def upload(tmp_path: Path) -> Path:
    return tmp_path / "upload"


BOMBS = {"png-bomb-whole", "jpeg-bomb", "avif-bomb", "webp-bomb", "mp4-sample-count-bomb", "webm-bomb"}


@pytest.mark.parametrize("name", media_corpus.REFUSED_NAMES)
def test_it_is_refused_and_a_bomb_by_its_header_not_by_a_limit(name: str, upload: Path) -> None:
    upload.write_bytes(media_corpus.sample(name).content)
    with pytest.raises(probing.InvalidMedia) as refusal:
        probing.probe(upload)
    assert name not in BOMBS or not re.search("ended by|MemoryError", str(refusal.value))


def test_n_pixels_pass_and_one_more_is_a_bomb() -> None:
    for type_, most in ((media.JPEG, 250_000_000), (media.PNG, 101_000_000), (media.MP4, 101_000_000)):
        assert errors.check_size(5, most // 5, type_) == (5, most // 5)
        for width, height in ((1, most + 1), (0, 1), (1, 0)):
            with pytest.raises(errors.Refused):
                errors.check_size(width, height, type_)


ONE_OF_EACH = ["png-gps", "jpeg-gps", "webp-animated-gps", "gif-animated", "avif-gps", "mp4-gps", "mov-gps", "webm-gps"]


def test_random_damage_is_no_trouble_of_ours(upload: Path) -> None:
    chance = random.Random(20260101)  # noqa: S311  # the same damage in each run
    for name in ONE_OF_EACH * 5:
        sample = media_corpus.sample(name)
        damaged = bytearray(sample.content)
        for _ in range(chance.choice((1, 2, 8))):
            at = chance.randrange(chance.choice((64, len(damaged))))
            damaged[at : at + chance.randrange(4)] = chance.randbytes(chance.randrange(8))
        upload.write_bytes(damaged)
        with contextlib.suppress(probing.InvalidMedia):
            assert probing.probe(upload).mime == sample.mime


@functools.cache
def endless_jpeg() -> bytes:
    """Small, and long to decode: the last of its progressive scans two thousand times over."""
    encoded = io.BytesIO()
    Image.new("L", (3000, 3000), 128).save(encoded, "JPEG", progressive=True)
    content = encoded.getvalue()
    scan = content[content.rindex(b"\xff\xda") : -2]
    return content[:-2] + scan * 2000 + content[-2:]


@pytest.fixture
def rendering(upload: Path) -> Iterator[Rendering]:
    """Start on the endless JPEG; answers the process of the child, confined by now, and what will come of it."""
    upload.write_bytes(endless_jpeg())
    with ThreadPoolExecutor(1) as pool:

        def start() -> tuple[int, Future[probing.Preview]]:
            coming = pool.submit(probing.render, upload, media.JPEG)
            return busy_child(), coming

        yield start


def busy_child() -> int:
    """The child that has limited itself and begun to decode its file."""
    give_up_at = time.monotonic() + 20
    while time.monotonic() < give_up_at:
        if client._zygote is not None:
            pid = client._zygote.process.pid
            for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                if decodes(int(child)):
                    return int(child)
        os.sched_yield()
    raise AssertionError("no child appeared")


def decodes(pid: int) -> bool:
    """It used a tenth of a second: far more than it needs before it decodes."""
    try:
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return int(user) + int(system) >= 10
    except (FileNotFoundError, ProcessLookupError):
        return False  # it is gone


def limits(pid: int) -> dict[str, list[str]]:
    """Soft and hard limit by name, as Linux tells them."""
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()[1:]
    return {line[:26].strip(): line[26:].split()[:2] for line in lines}


def test_the_child_can_do_little(rendering: Rendering) -> None:
    pid, coming = rendering()
    assert client._zygote is not None
    found = limits(pid)
    standard = [Path(f"/proc/{client._zygote.process.pid}/fd/{number}").readlink() for number in (0, 1)]
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    os.kill(pid, signal.SIGXCPU)
    with pytest.raises(probing.InvalidMedia):
        coming.result()
    assert found["Max cpu time"] == ["15", "16"]
    assert found["Max file size"] != ["unlimited"] * 2
    assert found["Max open files"] == ["16", "16"]
    assert found["Max core file size"] == ["0", "0"]
    assert int(found["Max address space"][0]) < 1.5 * 1024**3
    assert found["Max processes"] == ["0", "0"]
    assert [status[name] for name in ("NoNewPrivs", "Seccomp", "CapEff")] == ["1", "2", "0" * 16]
    assert standard == [Path("/dev/null")] * 2


def test_a_child_that_is_ended_from_outside_says_nothing_about_the_file() -> None:
    ends = {signal.SIGKILL: client.ProberFailed, signal.SIGTERM: client.ProberFailed}
    for number in (signal.SIGALRM, signal.SIGXCPU, signal.SIGSEGV, *ends):
        with pytest.raises(ends.get(number, client.Killed)):
            client._answer(b"!", number, 0.0)


def test_a_zygote_that_ends_before_its_child_says_nothing_about_the_file(
    rendering: Rendering,
) -> None:
    pid, coming = rendering()
    assert client._zygote is not None
    os.kill(client._zygote.process.pid, signal.SIGKILL)
    with pytest.raises(probing.ProberFailed, match="ended before its child"):
        coming.result()
    os.kill(pid, signal.SIGKILL)


def test_a_worker_that_ends_takes_busy_children_with_it(
    rendering: Rendering,
) -> None:
    """As at the end of the process: the zygote is hung up on."""
    pid, coming = rendering()
    client._forget(client._zygote)
    with pytest.raises(probing.ProberFailed, match="ended before its child"):
        coming.result()
    assert not Path(f"/proc/{pid}").exists()


CONFINED = """
import json, mmap, resource, signal
from imagehost.examining.prober import confinement
confinement.filter_calls = lambda: None  # it refuses to read the timer
confinement.confine()
left, _ = signal.getitimer(signal.ITIMER_REAL)
def fits(size):
    try:
        mmap.mmap(-1, size).close()
    except OSError:
        return False
    return True
image = [fits(1100 << 20), fits(1200 << 20)]
confinement.keep_to_video_memory()
print(json.dumps([left, image, [fits(400 << 20), fits(600 << 20)]]))
"""


def test_time_and_memory_of_a_child_end() -> None:
    ran = subprocess.run([sys.executable, "-c", CONFINED], cwd=ROOT, capture_output=True, check=True)
    left, image, video = json.loads(ran.stdout)
    assert 0 < left <= 45
    assert image == [True, False]
    assert video == [True, False]


GROWING = """
import json, os, sys
from imagehost.examining.prober import confinement
file = os.dup2(os.open(sys.argv[1], os.O_RDWR), confinement.FILE)
end = os.fstat(file).st_size
confinement.confine(file)
def outcome(size, at):
    try:
        return os.pwrite(file, bytes(size), at)
    except OSError as error:
        return error.strerror
print(json.dumps([outcome(9, end - 9), outcome(1, end), os.write(2, b"to the log")]))
"""


def test_a_file_of_any_size_is_written_in_place_and_never_grows(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("wb") as file:
        file.truncate(700 * MEGABYTE)  # of no plan yet; sparse
    ran = subprocess.run([sys.executable, "-c", GROWING, path], cwd=ROOT, capture_output=True, check=True)
    assert json.loads(ran.stdout) == [9, "File too large", 10]
    assert path.stat().st_size == 700 * MEGABYTE
