"""Imports at the same time as sign-ups and other changes, and lines that another process reads ahead."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts import users
from accounts.models import Name, UidCounter, User
from infrastructure import worker_processes
from lookup.documents import document_checks, registry
from lookup.models import Badge
from lookup.shapes.strict_fields import Problem
from lookup.transfer import importing, own_links
from lookup.transfer.conflicts import Claims
from lookup.transfer.importing import Outcome
from lookup.transfer.reading import Line
from tests.factories.accounts import AliasFactory, UserFactory
from tests.factories.lookup import LinkFactory, main_profile
from tests.lookup import transfer_files
from tests.lookup.transfer_files import load, refusal
from tests.lookup.transfer_line import SECOND, USER, line, second, text_of
from tests.support.threads import together


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_sign_ups_beside_an_import_never_get_a_uid_of_it(tmp_path: Path) -> None:
    """The import brings the uids 41, 42 and 7; the sign-ups come before it and after it."""

    def act(number: int) -> int | None:
        if number == 0:
            load(text_of(line(), second()), tmp_path)
            return None
        return User.objects.create_user(f"person{number}").uid

    uids = [uid for uid in together(4, act) if uid is not None]
    assert len(set(uids)) == 3
    assert not {7, 41, 42} & set(uids)
    assert User.objects.count() == 6
    assert UidCounter.objects.get().next_uid == max(43, *uids) + (0 if max(uids) < 43 else 1)


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_two_imports_of_one_file_at_once_are_one(tmp_path: Path) -> None:
    def act(number: int) -> None:
        directory = tmp_path / str(number)
        directory.mkdir()
        load(text_of(line(), second()), directory)

    together(2, act)
    assert User.objects.count() == 3
    assert Badge.objects.count() == 1


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["second"], f"line 1: {importing._TAKEN}"),
        (["line", "second"], "line 2: aliases.0.name: The name SECOND2 belongs to Holder ({0}), not to {1}."),
    ],
)
def test_a_name_that_is_taken_after_the_check_costs_that_line_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: list[str], said: str
) -> None:
    """It is taken inside of the import's own transaction, and given back with it. In the first file the line is alone;
    in the second one the line before it is imported again by itself, and the name stays taken."""
    checked = Claims.problems

    def problems(self: Claims, line: Line) -> Iterator[Problem]:
        found = list(checked(self, line))
        if not Name.objects.filter(pk="SECOND2").exists():
            AliasFactory(user=holder, name="second2")
        yield from found

    holder = UserFactory(username="Holder", email="")
    monkeypatch.setattr(Claims, "problems", problems)
    lines = {"line": line(), "second": second()}
    assert refusal(text_of(*(lines[name] for name in names)), tmp_path) == [said.format(holder.pk, SECOND)]
    assert sorted(User.objects.values_list("uid", flat=True)) == ([0, 7, 41] if len(names) == 2 else [0])


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_a_user_who_is_deleted_beside_an_import_is_gone_or_imported_anew(tmp_path: Path) -> None:
    load(text_of(line()), tmp_path)
    User.objects.filter(pk=USER).update(email="before@example.org")

    def act(number: int) -> None:
        if number:
            users.delete(user=User.objects.get(pk=USER), by=None)
        else:
            load(text_of(line()), tmp_path)

    together(2, act)
    assert list(User.objects.filter(pk=USER).values_list("email", flat=True)) in [[], [""]]
    assert list(document_checks.differences()) == []


def _outcomes(reader: importing.Reader, *, is_check: bool) -> list[Outcome]:
    """Of a file with a refused line, a line that comes twice, and more batches than are read ahead."""
    bad = b'{"version": 1}\n'
    text = text_of(line()).encode() + bad + text_of(second(), line()).encode() + bad * 2 * importing.AHEAD
    return list(importing.run(file=io.BytesIO(text), is_check=is_check, reader=reader))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_check", [True, False])
def test_lines_that_another_process_reads_come_in_order(monkeypatch: pytest.MonkeyPatch, *, is_check: bool) -> None:
    monkeypatch.setattr(importing, "BATCH_LINES", 1)
    assert worker_processes.may_fork()
    ahead = _outcomes(importing.read_ahead, is_check=is_check)
    assert [one.number for one in ahead] == list(range(1, 5 + 2 * importing.AHEAD))
    assert [bool(one.problems) for one in ahead[:4]] == [False, True, False, True]
    assert ahead[3].problems == [("user.id", "Line 1 is of this user.")]
    assert User.objects.exists() is not is_check
    assert list(document_checks.differences()) == []
    transfer_files.wipe()
    assert _outcomes(importing.read_here, is_check=is_check) == ahead


@pytest.mark.django_db
def test_no_process_is_forked_within_a_transaction() -> None:
    assert not worker_processes.may_fork()


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_links_that_are_confirmed_several_times_at_once_are_added_once() -> None:
    user = UserFactory.create()
    profile = main_profile(user)
    LinkFactory.create_batch(registry.LINKS.limit - 3, profile=profile)
    file = b"one.example\ntwo.example\n"
    digest = own_links.look(profile=profile, file=file).changes.digest

    def act(_: int) -> bool:
        return own_links.add(profile=profile, file=file, digest=digest, by=user).is_written

    assert sorted(together(3, act)) == [False, False, True]
    rows = registry.LINKS.rows_of(profile.pk)
    assert [row.url for row in rows[-2:]] == ["https://one.example", "https://two.example"]
    assert len(rows) == registry.LINKS.limit - 1
    assert list(document_checks.differences()) == []
