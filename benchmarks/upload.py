"""Uploads a film of 200 MB through the running service, and the same bytes by the rawest way there is, interleaved.

Run: .venv/bin/python -m benchmarks.upload
Starts the embedded service with one worker twice, on a folder and on an S3 server of its own, and prints for each the
medians, their ratio, and by how much the worker's resident memory grew at most (VmHWM of /proc; Linux alone).
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
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import av
import boto3
from botocore.config import Config
from PIL import Image

from tests.journeys import services
from tests.support import object_store

SIZE, ROUNDS = 200 * 1024 * 1024, 5
BUCKET = "benchmark"


def film(path: Path) -> None:
    """A real MP4 of SIZE bytes: its header first, then its last box, lengthened."""
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 320, 180, "yuv420p"
        for shade in range(50):
            picture = av.VideoFrame.from_image(Image.new("RGB", (320, 180), (shade * 5, 80, 120)))  # type: ignore[no-untyped-call]  # untyped in av
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    content = path.read_bytes()
    at = content.rindex(b"mdat") - 4
    length = (len(content) - at + SIZE - len(content)).to_bytes(4, "big")
    with path.open("wb") as file:
        file.write(content[:at] + length + content[at + 4 :])
        while (missing := SIZE - file.tell()) > 0:
            file.write(os.urandom(min(missing, 1 << 20)))


def descendants(pid: int) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*/stat"):
        if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
            child = int(entry.parent.name)
            yield child
            yield from descendants(child)


def worker_of(supervisor: int) -> int:
    """The process in which Django runs: the largest that granian started."""
    web = [pid for pid in descendants(supervisor) if b"granian" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    others = [child for pid in web for child in descendants(pid)]
    return max([*web, *others], key=lambda pid: kilobytes(pid, "VmRSS"))


def kilobytes(pid: int, what: str) -> int:
    found = re.search(rf"{what}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) if found else 0


def seconds(act: Callable[[], object]) -> float:
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def upload(base_url: str, key: str, path: Path) -> None:
    form = ["-F", f"file=@{path}", f"{base_url}/api/imagehost/upload"]
    answer = subprocess.run(
        ["curl", "--silent", "--show-error", "-H", "Expect:", "-H", f"X-API-Key: {key}", *form],  # noqa: S607
        check=True, capture_output=True,
    ).stdout  # fmt: skip
    if not json.loads(answer).get("ok"):
        raise SystemExit(answer.decode())


def measure(title: str, directory: Path, path: Path, raw: Callable[[], object], **values: str) -> None:
    with services.embedded_server(directory, RATE_LIMITS_ENABLED="0", **values) as server:
        demo = json.loads((directory / "var" / "demo.json").read_text())
        key = next(entry["key"] for entry in demo["api_keys"] if "imagehost:upload" in entry["permissions"])
        with contextlib.closing(sqlite3.connect(directory / "var" / "db.sqlite3")) as database, database:
            database.execute("UPDATE accounts_user SET plan = 'IMAGEHOST'")  # the free plan takes no film of this size
        small = Path(__file__).parents[1] / "docs" / "samples" / "clip.mp4"
        upload(server.base_url, key, small)  # everything is loaded now
        worker = worker_of(server.process.pid)
        Path(f"/proc/{worker}/clear_refs").write_text("5")  # VmHWM starts anew
        before = kilobytes(worker, "VmRSS")
        rounds = [(seconds(lambda: upload(server.base_url, key, path)), seconds(raw)) for _ in range(ROUNDS)]
        grown = kilobytes(worker, "VmHWM") - before
    ours, theirs = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"{title}: upload {ours:.2f} s, raw {theirs:.2f} s, ratio {ours / theirs:.2f}, +{grown / 1024:.1f} MB")


def raw_write(path: Path, target: Path) -> None:
    """The bytes into a new file, on the disk for certain."""
    with path.open("rb") as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        os.fsync(copy.fileno())
    target.unlink()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as name:
        directory = Path(name)
        path = directory / "film.mp4"
        film(path)
        (directory / "folder").mkdir()
        measure("folder", directory / "folder", path, lambda: raw_write(path, directory / "copy"))
        with object_store.running() as store:
            config = Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required")
            client = boto3.client(
                "s3",
                endpoint_url=store.endpoint_url,
                region_name="us-east-1",
                config=config,
                aws_access_key_id=store.access_key,
                aws_secret_access_key=store.secret_key,
            )
            client.create_bucket(Bucket=BUCKET)

            def raw_put() -> None:
                with path.open("rb") as body:
                    client.put_object(Bucket=BUCKET, Key="raw", Body=body)

            (directory / "s3").mkdir()
            values = {
                "S3_BUCKET": BUCKET,
                "S3_ENDPOINT_URL": store.endpoint_url,
                "S3_ACCESS_KEY": store.access_key,
                "S3_SECRET_KEY": store.secret_key,
            }
            measure("S3", directory / "s3", path, raw_put, **values)


if __name__ == "__main__":
    main()
