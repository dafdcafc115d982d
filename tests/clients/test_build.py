"""`make clients` writes the same bytes wherever and however often it runs."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support import clients

pytestmark = [pytest.mark.live, pytest.mark.once]
GENERATED = ("dist", "lib", "node_modules", "models.py", "openapi.ts", ".mypy_cache")


def digests(paths: list[Path]) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_two_builds_are_equal_byte_for_byte(tmp_path: Path) -> None:
    copied = tmp_path / "clients"
    shutil.copytree(clients.FOLDER, copied, ignore=shutil.ignore_patterns(*GENERATED))
    shutil.copytree(
        clients.FOLDER / "typescript" / "node_modules", copied / "typescript" / "node_modules", symlinks=True
    )
    built = [path for path in (clients.FOLDER / "dist").iterdir() if path.suffix in (".whl", ".gz", ".tgz")]
    assert len(built) == 3
    assert digests(clients.build(copied)) == digests(built)


def test_the_packages_hold_the_library_and_its_types() -> None:
    with zipfile.ZipFile(clients.WHEEL) as wheel:
        names = {Path(name).name for name in wheel.namelist() if name.startswith("hearth_client/")}
    assert {"__init__.py", "models.py", "py.typed", "streams.py"} <= names
    with tarfile.open(clients.TARBALL) as tarball:
        names = set(tarball.getnames())
    assert {"package/lib/index.js", "package/lib/index.d.ts", "package/lib/openapi.d.ts", "package/README.md"} <= names
    assert [name for name in names if name.startswith("package/src")] == []
