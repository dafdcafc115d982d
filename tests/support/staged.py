"""The fast checks of what is staged, as Git's pre-commit hook: format, lint, templates, size limits.

`python -m tests.support.staged` checks; `--install` writes the hook. What is checked are the staged contents, in a
temporary copy, whatever the files hold by now.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.support import size_limits

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
HOOK = "#!/bin/sh\n# Written by `make hook`.\nexec .venv/bin/python -m tests.support.staged\n"


def main(arguments: list[str]) -> int:
    if "--install" in arguments:
        return install(ROOT)
    return 0 if check(ROOT) else 1


def install(root: Path) -> int:
    """Write the hook of the repository at `root`; leave a hook that is not ours as it is."""
    hook = root / _git(root, "rev-parse", "--git-path", "hooks/pre-commit").strip()
    if hook.exists() and hook.read_text() != HOOK:
        print(f"There is a hook already: {hook}. Let it call: python -m tests.support.staged", file=sys.stderr)
        return 1
    hook.parent.mkdir(parents=True, exist_ok=True)
    hook.write_text(HOOK)
    hook.chmod(0o755)
    return 0


def check(root: Path) -> bool:
    """Run the checks on what is staged in the repository at `root`; return whether all of them pass."""
    staged = _git(root, "diff", "--cached", "--name-only", "--diff-filter=d", "-z").split("\0")
    modules = [path for path in staged if path.endswith(".py")]
    templates = [path for path in staged if path.startswith("templates/") and path.endswith(".html")]
    with tempfile.TemporaryDirectory(prefix="staged-") as directory:
        # All of it: ruff tells our packages from others by what lies beside a file.
        _git(root, "checkout-index", "--all", f"--prefix={directory}/")
        copy = Path(directory)
        passed = True
        if modules:
            passed &= _runs(copy, "ruff", "format", "--check", "--quiet", "--force-exclude", *modules)
            passed &= _runs(copy, "ruff", "check", "--quiet", "--force-exclude", *modules)
            for problem in size_limits.too_large(copy, [copy / path for path in modules]):
                print(problem)
                passed = False
        if templates:
            passed &= _runs(copy, "djlint", "--lint", "--quiet", *templates)
    return passed


def _git(root: Path, *arguments: str) -> str:
    command = [shutil.which("git") or "git", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def _runs(copy: Path, program: str, *arguments: str) -> bool:
    return subprocess.run([PROGRAMS / program, *arguments], cwd=copy, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
