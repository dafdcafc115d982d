"""Which tests a change touches."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

from tests.support import changed

FILES = (
    "tests/lookup/test_comments.py tests/lookup/test_page.py tests/lookup/members.py tests/lookup/answer.json "
    "tests/imagehost/test_folders.py tests/pages/test_pages.py tests/config/test_env.py "
    "tests/dashboard/api_keys/test_keys.py"
).split()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.fixture
def graph() -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for importer, imported in (
        ("imagehost.folders.folders", "infrastructure.text_rules"),
        ("tests.imagehost.test_folders", "imagehost.folders.folders"),
        ("tests.lookup.test_comments", "lookup.social.comments"),
        ("tests.lookup.test_comments", "tests.lookup.members"),
        ("tests.dashboard.api_keys.test_keys", "infrastructure.text_rules"),
    ):
        graph.add_import(importer=importer, imported=imported)
    graph.add_module("lookup.views.page")
    return graph


LOOKUP = ["tests/lookup/test_comments.py", "tests/lookup/test_page.py"]
KEYS, FOLDERS = "tests/dashboard/api_keys/test_keys.py", "tests/imagehost/test_folders.py"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("imagehost/folders/folders.py", [FOLDERS]),
        ("infrastructure/text_rules.py", [KEYS, FOLDERS]),  # one of them imports it through another module
        ("lookup/views/page.py", LOOKUP),  # no test imports a view
        ("lookup/deleted.py", LOOKUP),
        ("tests/lookup/test_page.py", []),  # not in the graph above: it imports nothing
        ("tests/lookup/members.py", ["tests/lookup/test_comments.py"]),
        ("tests/lookup/conftest.py", LOOKUP),
        ("tests/lookup/answer.json", LOOKUP),
        ("templates/lookup/page.html", LOOKUP),
        ("templates/dashboard/api_keys/list.html", [KEYS]),
        ("templates/base.html", ["tests/pages/test_pages.py"]),
        ("static/css/base.css", ["tests/pages/test_pages.py"]),
        ("requirements.lock", ["tests/config/test_env.py"]),
        ("benchmarks/cases/lookups.py", []),
    ],
)
def test_a_changed_file_chooses_tests(path: str, expected: list[str], root: Path, graph: grimp.ImportGraph) -> None:
    assert changed.chosen_by([path], graph, root) == expected


def test_this_file_is_chosen_where_the_module_that_it_tests_changes() -> None:
    assert "tests/support/test_changed.py" in changed.chosen_by(["tests/support/changed.py"], changed.imports())
