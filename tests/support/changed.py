"""Chooses the tests that a change touches: `make test ARGS=changed`.

A changed module chooses the test files that import it, directly or through other modules, and the folder of its
package's tests, which reach its views by URL. Any other file chooses a folder.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import grimp

ROOT = Path(__file__).parents[2]
BRANCHES = ("origin/main", "main")
PAGES = "tests/pages"
FOLDERS = {
    "": "tests/config",  # lock files and the like
    "deploy": "tests/config",
    "docs": "tests/dashboard/documentation",
    "static": PAGES,
    "templates": PAGES,
}


def paths() -> list[str]:
    """Return the files that differ from the main branch, new and deleted ones included."""
    known = _git("for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/remotes").split()
    branch = next((branch for branch in BRANCHES if branch in known), "HEAD")
    base = _git("merge-base", branch, "HEAD").strip()
    changed = _git("diff", "--name-only", "--no-renames", base).splitlines()
    return sorted({*changed, *_git("ls-files", "--others", "--exclude-standard").splitlines()})


def _git(*arguments: str) -> str:
    command = [shutil.which("git") or "git", "-c", "core.quotePath=false", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def imports() -> grimp.ImportGraph:
    """Return which module imports which, of the packages that pyproject.toml lists for import-linter."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    return grimp.build_graph(*packages, cache_dir=str(ROOT / ".grimp_cache"))


def chosen_by(changed: Iterable[str], graph: grimp.ImportGraph, root: Path = ROOT) -> list[str]:
    """Return the test files for the changed paths, relative to `root`."""
    chosen: set[str] = set()
    for path in changed:
        chosen.update(_importers(path, graph))
        is_helper = path.startswith("tests/") and path.endswith(".py") and not path.endswith("/conftest.py")
        if not is_helper:
            chosen.update(_in_folder(path, root))
    return sorted(path for path in chosen if (root / path).exists())


def _importers(path: str, graph: grimp.ImportGraph) -> Iterator[str]:
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if path.endswith(".py") and module in graph.modules:
        for each in {module, *graph.find_downstream_modules(module)}:
            if each.startswith("tests.") and each.rpartition(".")[2].startswith("test_"):
                yield f"{each.replace('.', '/')}.py"


def _in_folder(path: str, root: Path) -> Iterator[str]:
    """Yield the test files of the nearest folder of tests that has the path's name."""
    parts = PurePosixPath(path).parts[:-1]
    names = parts[1:] if parts[:1] in (("tests",), ("templates",)) else parts
    for length in range(len(names), 0, -1):
        folder = root.joinpath("tests", *names[:length])
        if any(folder.glob("test_*.py")):
            break
    else:
        top = parts[0] if parts else ""
        if top not in FOLDERS:
            return
        folder = root / FOLDERS[top]
    for file in folder.rglob("test_*.py"):
        yield file.relative_to(root).as_posix()
