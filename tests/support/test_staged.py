"""The checks of what is staged."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import staged

CLEAN = '"""Nothing."""\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("GIT_DIR", "GIT_INDEX_FILE"):  # where these tests run in a hook
        monkeypatch.delenv(name, raising=False)
    _git(tmp_path, "init", "--quiet")
    shutil.copy(staged.ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "templates").mkdir()
    return tmp_path


def _git(root: Path, *arguments: str) -> None:
    subprocess.run([shutil.which("git") or "git", *arguments], cwd=root, check=True)


@pytest.mark.parametrize(
    ("name", "content", "passes"),
    [
        ("module.py", CLEAN, True),
        ("module.py", CLEAN + "import os\n", False),  # unused
        ("module.py", CLEAN + "NUMBER = 1+1\n", False),  # not formatted
        ("module.py", CLEAN + "\n".join(f"N{number} = {number}" for number in range(500)) + "\n", False),  # too long
        ("templates/page.html", "<p>Hello</p>\n", True),
        ("templates/page.html", '<img src="a.png">\n', False),  # neither a size nor a text
    ],
)
def test_staged_content_is_checked(repository: Path, name: str, content: str, *, passes: bool) -> None:
    (repository / name).write_text(content)
    _git(repository, "add", name)
    (repository / name).write_text("what is here now ( is not staged")
    assert staged.check(repository) is passes


def test_the_hook_is_installed_once_and_replaces_no_other(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "pre-commit"
    assert [staged.install(repository), staged.install(repository)] == [0, 0]
    assert hook.stat().st_mode & 0o100
    hook.write_text("#!/bin/sh\nexit 0\n")
    assert staged.install(repository) == 1
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
