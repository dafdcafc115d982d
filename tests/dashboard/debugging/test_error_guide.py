"""Every error that the provider can answer has its row, and no row explains what is never answered."""

from __future__ import annotations

import re
from pathlib import Path

import oidc_provider
from dashboard.client_apps import error_guide
from dashboard.client_apps.error_guide import ERRORS, PAGE
from oidc_provider import errors
from oidc_provider.errors import ProtocolError

FOLDER = Path(oidc_provider.__file__).parent
SOURCE = "\n".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")) if path != FOLDER / "errors.py")
# Document 1, "Errors", and the first section of the decisions.
OF_THE_DOCUMENTS = """
    invalid_scope invalid_grant invalid_client unauthorized_client client_disabled 429 invalid_request
    unsupported_grant_type invalid_redirect unsupported_response_type request_not_supported request_uri_not_supported
    access_denied login_required consent_required insufficient_scope invalid_token
""".split()


def subclasses(of: type[ProtocolError]) -> set[type[ProtocolError]]:
    return {of}.union(*(subclasses(kind) for kind in of.__subclasses__()))


def test_every_code_of_the_documents_is_explained() -> None:
    assert set(OF_THE_DOCUMENTS) <= {row.code for row in ERRORS}


def test_every_error_class_has_a_row_with_its_code_and_status() -> None:
    kinds = subclasses(ProtocolError) - {ProtocolError}
    assert {(kind.error, kind.status) for kind in kinds} <= {(row.code, row.status) for row in ERRORS}


RAISED = re.compile(
    r"raise \w*?(Invalid\w+|Missing\w+|Insufficient\w+|Unauthorized\w+|Unsupported\w+)"
    r"\(f?\"([^\"{]+)"
)


def test_every_error_that_is_raised_with_words_is_explained_by_them() -> None:
    """Where a code has several causes, the row is chosen by the words; the remaining row says so by having none."""
    for name, words in sorted(set(RAISED.findall(SOURCE))):
        code = getattr(errors, name).error
        rows = [row for row in ERRORS if row.code == code]
        fits = [row for row in rows if row.said and (words.startswith(row.said) or row.said.startswith(words))]
        assert len(fits) == 1 or any(not row.said for row in rows), (words, rows)
        assert len(fits) <= 2, (words, rows)


def test_every_row_is_found_by_what_its_answer_says_and_can_be_linked_to() -> None:
    for row in ERRORS:
        assert [other.anchor for other in ERRORS].count(row.anchor) == 1
        assert re.fullmatch("[a-z0-9-]+", row.anchor)
        assert not row.said or f'"{row.said}' in SOURCE, row
        found = {
            error_guide.explain(endpoint=endpoint, code=row.code, description=f"{row.said} and so on")
            for endpoint in ("authorize", "token", "introspect", "revoke", "userinfo")
        }
        assert row in found or (row.where == PAGE and not row.said)  # a redirect with the same code comes first


def test_an_unknown_error_has_no_explanation() -> None:
    assert error_guide.explain(endpoint="token", code="teapot") is None
