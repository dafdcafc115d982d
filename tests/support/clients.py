"""Build the libraries of clients/ out of docs/openapi.yaml: `python -m tests.support.clients` writes clients/dist.

Node is that of the development lock, as for the journeys; equal sources give equal bytes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.support import node, processes
from tests.support.environment import ROOT

FOLDER = ROOT / "clients"
DESCRIPTION = ROOT / "docs" / "openapi.yaml"
MODELS = Path("python", "src", "hearth_client", "models.py")
WHEEL = FOLDER / "dist" / "hearth_client-1.0.0-py3-none-any.whl"  # Python imports from it as it is
TARBALL = FOLDER / "dist" / "hearth-client-1.0.0.tgz"
STEP_SECONDS = 180
_BIN = Path(sys.executable).parent
# Dictionaries, not classes: a field that a later release adds breaks no program, and nothing is parsed twice.
_MODELS = (
    "--input-file-type openapi --openapi-scopes schemas paths parameters --use-operation-id-as-name "
    "--output-model-type typing.TypedDict --no-use-closed-typed-dict --target-python-version 3.11 "
    "--enum-field-as-literal all --strict-nullable --use-standard-collections --use-union-operator "
    "--use-schema-description --formatters builtin --disable-timestamp"
).split()
_TIME = {"SOURCE_DATE_EPOCH": "1767225600"}  # of the files in the packages: the year of the first release


class BuildError(Exception):
    """A program of the build failed; the message holds its output."""


def build(folder: Path = FOLDER) -> list[Path]:
    """Generate, check the types, and return the wheel, the sdist and the tarball in `folder`/dist."""
    shutil.rmtree(folder / "dist", ignore_errors=True)
    _build_python(folder / "python", folder / "dist")
    _build_typescript(folder / "typescript", folder / "dist")
    return sorted(path for path in (folder / "dist").iterdir() if path.suffix in (".whl", ".gz", ".tgz"))


def _build_python(folder: Path, dist: Path) -> None:
    models = folder.parent / MODELS
    _run([_program("datamodel-codegen"), "--input", str(DESCRIPTION), "--output", str(models), *_MODELS], folder)
    _run([_program("mypy"), "--strict", "--config-file", "", "src"], folder)
    # The backend is part of uv, so nothing is fetched.
    _run([_program("uv"), "build", "--offline", "--out-dir", str(dist)], folder)


def _build_typescript(folder: Path, dist: Path) -> None:
    node.install(folder)
    shutil.rmtree(folder / "lib", ignore_errors=True)
    modules = folder / "node_modules"
    _run(
        [str(node.PROGRAM), str(modules / "openapi-typescript/bin/cli.js"), str(DESCRIPTION), "-o", "src/openapi.ts"],
        folder,
    )
    _run([str(node.PROGRAM), str(modules / "typescript/bin/tsc"), "--project", "."], folder)
    _run([*node.NPM, "pack", "--pack-destination", str(dist)], folder)


def link_typescript(modules: Path) -> None:
    """Lay the built package, unpacked, and what it depends on into `modules`, a node_modules of another program."""
    modules.mkdir(exist_ok=True)
    for name in ("eventsource-parser", "openapi-fetch", "openapi-typescript-helpers"):
        (modules / name).symlink_to(FOLDER / "typescript" / "node_modules" / name)
    with tarfile.open(TARBALL) as tarball:
        tarball.extractall(modules)  # noqa: S202 npm has just packed it here
    (modules / "package").rename(modules / "hearth-client")


def _program(name: str) -> str:
    return str(_BIN / name)


def _run(command: list[str], folder: Path) -> None:
    try:
        done = processes.run(command, seconds=STEP_SECONDS, cwd=folder, env=node.environment() | _TIME)
    except subprocess.TimeoutExpired:
        raise BuildError(f"No end within {STEP_SECONDS} seconds: {' '.join(command)}") from None
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout}")


if __name__ == "__main__":
    try:
        sys.stdout.writelines(f"{path.relative_to(ROOT)}\n" for path in build())
    except (BuildError, node.NodeError) as problem:
        sys.exit(str(problem))
