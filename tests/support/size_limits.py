"""Size limits: at most 500 lines a module, 40 a function, 100 a conftest (migrations aside)."""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

MODULE, FUNCTION, CONFTEST = 500, 40, 100
OUTSIDE = {".venv", "node_modules", "migrations", "var"}
GENERATED = {"clients/python/src/hearth_client/models.py"}


def too_large(root: Path, paths: Iterable[Path] | None = None) -> Iterator[str]:
    """Yield a line for each module and function over its limit, of `paths` or of all modules below `root`."""
    for path in sorted(root.rglob("*.py") if paths is None else paths):
        if OUTSIDE & set(path.relative_to(root).parts) or path.relative_to(root).as_posix() in GENERATED:
            continue
        source = path.read_text()
        limit = CONFTEST if path.name == "conftest.py" else MODULE
        if (lines := len(source.splitlines())) > limit:
            yield f"{path.relative_to(root)}: {lines} lines, more than {limit}"
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef) and (lines := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION:
                yield f"{path.relative_to(root)}:{node.lineno}: {node.name}() has {lines} lines, more than {FUNCTION}"


if __name__ == "__main__":
    sys.exit("\n".join(too_large(Path.cwd())) or None)
