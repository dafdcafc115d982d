"""Uploads of 200 MB through curl and the embedded service, beside the same bytes by the rawest way there is, in turns.

Once to a folder and once to an S3 server, one at a time and four at once; with the growth of the web worker's resident
memory at its peak (VmHWM of /proc).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import boto3
from botocore.config import Config

from benchmarks import film, memory
from benchmarks.bench import ROOT, Bench, BenchError
from benchmarks.population import Population
from benchmarks.results import Result
from tests.journeys import services
from tests.journeys.processes import Server
from tests.support import object_store

SIZE, AT_ONCE = 200 * 1024 * 1024, 4
BUCKET, TOKEN = "benchmark", "a-token-of-the-measurements-alone"
Raw = Callable[[int], object]  # puts the film where uploads go, under this number


@dataclass(frozen=True)
class Upload:
    """Seconds of ours and of the raw way, seconds of ours that the prober took, and by how many MB the worker grew."""

    ours: float
    raw: float
    examined: float
    grown: float

    @property
    def ratio(self) -> float:
        return self.ours / self.raw

    def text(self) -> str:
        whole = f"upload {self.ours:.2f} s, of which {self.examined:.2f} s each examining"
        return f"{whole}, raw {self.raw:.2f} s, ratio {self.ratio:.2f}, +{self.grown:.1f} MB"


def run(bench: Bench, population: Population) -> Iterator[Result]:
    result = Result("upload", "SQLite", 0)
    path = bench.directory / "film.mp4"
    film.make(path, SIZE)
    found: dict[str, list[Upload]] = {}
    with bench.unpinned():
        found["folder"] = _measure(bench, "folder", path, lambda number: _write(path, number))
        without = statistics.median(_seconds(lambda number: _write(path, number, sync=False), [0]) for _ in range(3))
        with object_store.running() as store:
            client = boto3.client(
                "s3",
                endpoint_url=store.endpoint_url,
                region_name="us-east-1",
                config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"),
                aws_access_key_id=store.access_key,
                aws_secret_access_key=store.secret_key,
            )
            client.create_bucket(Bucket=BUCKET)

            def put(number: int) -> None:
                with path.open("rb") as body:
                    client.put_object(Bucket=BUCKET, Key=f"raw{number}", Body=body)

            values = {"S3_BUCKET": BUCKET, "S3_ENDPOINT_URL": store.endpoint_url}
            values |= {"S3_ACCESS_KEY": store.access_key, "S3_SECRET_KEY": store.secret_key}
            found["s3"] = _measure(bench, "s3", path, put, **values)
    for place, (alone, together) in found.items():
        result.find(f"upload-{place}", alone.ratio)
        result.find(f"upload-{place}", together.ratio)
        result.notes += [f"{place}: {alone.text()}", f"{place}, {AT_ONCE} at once: {together.text()}"]
    result.notes.append(f"folder: the raw write without fsync {without:.2f} s")
    result.find("upload-memory", max(one.grown for uploads in found.values() for one in uploads))
    yield result


def _measure(bench: Bench, place: str, path: Path, raw: Raw, **values: str) -> list[Upload]:
    """One at a time, then AT_ONCE together."""
    directory = bench.directory / f"upload-{place}"
    directory.mkdir()
    with services.embedded_server(directory, RATE_LIMITS_ENABLED="0", METRICS_TOKEN=TOKEN, **values) as server:
        server.wait_until_ready()
        key = _prepared(directory)
        _upload(server.base_url, key, ROOT / "docs" / "samples" / "clip.mp4")  # everything is loaded now
        return [
            _rounds(bench, server, lambda _: _upload(server.base_url, key, path), raw, at_once)
            for at_once in (1, AT_ONCE)
        ]


def _prepared(directory: Path) -> str:
    """A key that may upload, of a user whose plan takes files of this size."""
    demo = json.loads((directory / "var" / "demo.json").read_text())
    with contextlib.closing(sqlite3.connect(directory / "var" / "db.sqlite3")) as database, database:
        database.execute("UPDATE accounts_user SET plan = 'IMAGEHOST'")
    return str(next(entry["key"] for entry in demo["api_keys"] if "imagehost:upload" in entry["permissions"]))


def _rounds(bench: Bench, server: Server, ours: Raw, raw: Raw, at_once: int) -> Upload:
    worker = memory.listener(server.process.pid, int(server.base_url.rpartition(":")[2]))
    Path(f"/proc/{worker}/clear_refs").write_text("5")  # VmHWM starts again
    before, examined = _kilobytes(worker, "VmRSS"), _examined(server)
    rounds = [(_seconds(ours, range(at_once)), _seconds(raw, range(at_once))) for _ in range(bench.rounds)]
    grown, examined = _kilobytes(worker, "VmHWM") - before, _examined(server) - examined
    mine, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
    return Upload(mine, theirs, examined / bench.rounds / at_once, grown / 1024)


def _examined(server: Server) -> float:
    """Return the seconds that the prober has taken for all files so far."""
    request = urllib.request.Request(f"{server.base_url}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        found = re.findall(r'^hearth_examination_seconds_sum\{.*task="probe".*\} (\S+)$', answer.read().decode(), re.M)
    return sum(map(float, found))


def _seconds(act: Raw, numbers: Sequence[int]) -> float:
    with ThreadPoolExecutor(len(numbers)) as pool:
        start = time.perf_counter()
        list(pool.map(act, numbers))
        return time.perf_counter() - start


def _upload(base_url: str, key: str, path: Path) -> None:
    form = ["-F", f"file=@{path}", f"{base_url}/api/imagehost/upload"]
    answer = subprocess.run(
        ["curl", "--silent", "--show-error", "-H", "Expect:", "-H", f"X-API-Key: {key}", *form],  # noqa: S607
        check=True,
        capture_output=True,
    ).stdout
    if not json.loads(answer).get("ok"):
        raise BenchError(answer.decode())


def _write(path: Path, number: int, *, sync: bool = True) -> None:
    """Write the bytes into a new file; with `sync` they are on the disk."""
    target = path.with_suffix(f".copy{number}")
    with path.open("rb") as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        if sync:
            os.fsync(copy.fileno())
    target.unlink()


def _kilobytes(pid: int, what: str) -> int:
    found = re.search(rf"{what}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0
