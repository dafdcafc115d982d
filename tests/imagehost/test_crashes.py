"""The process dies at any step of an upload or a deletion: after the sweep nothing of it is stored or booked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from imagehost.models import File, State
from imagehost.storing import files, quotas, reconciliation, sweeping
from imagehost.storing.reconciliation import Comparison
from imagehost.storing.storage import StorageFailed
from imagehost.storing.sweeping import Swept
from tests.factories.imagehost import FileFactory
from tests.imagehost import objects
from tests.imagehost.objects import NOON, Crash, FaultyStorage
from tests.lookup import statements

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("clock")]

SOON = timedelta(hours=1, seconds=1)
UPLOAD = [
    "SELECT imagehost_folderrule",
    "UPDATE imagehost_usage",
    "INSERT imagehost_file",
    "UPDATE imagehost_file",  # READY
]
UNDOING = ["UPDATE imagehost_file", "UPDATE imagehost_usage", "DELETE imagehost_file"]


@pytest.fixture
def owner() -> User:
    """Somebody who stores 300 bytes."""
    file = FileFactory(size=300)
    objects.put(file)
    assert file.owner is not None
    return file.owner


def upload(owner: User) -> File:
    return objects.upload(owner, objects.picture(), NOON).file


def sweep() -> Swept:
    return sweeping.sweep(now=NOON + SOON, until=NOON + 2 * SOON)


def assert_nothing_is_left(owner: User) -> None:
    """But what was stored before. No comparison has anything to correct then, a day later."""
    (file,) = File.objects.all()
    assert (file.size, quotas.used(owner.pk), objects.all_keys()) == (300, 300, [file.key])
    later = NOON + timedelta(days=2)
    assert reconciliation.reconcile(now=later) == Comparison(objects=1)


def crashing(name: str, moment: str = "after", *, is_booked: bool = True) -> Callable[..., Any]:
    """For `connection.execute_wrapper`: before or after the first statement of that name.

    Not `is_booked`: only once the file's row is inserted, as booking updates the usage as well.
    """

    def execute(run: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        """Any: the form that Django calls."""
        nonlocal is_booked
        statement = statements.Statement(sql, params).name
        is_it = is_booked and statement == name
        if is_it and moment == "before":
            raise Crash
        result = run(sql, params, many, context)
        if is_it:
            raise Crash
        is_booked |= statement == "INSERT imagehost_file"
        return result

    return execute


@pytest.mark.embedded
class TestUploads:
    def test_these_are_the_steps_of_an_upload(self, owner: User) -> None:
        assert [name for name in statements.names(lambda: upload(owner)) if " " in name and name in UPLOAD] == UPLOAD

    @pytest.mark.parametrize("name", UPLOAD[1:-1])
    def test_a_crash_while_it_is_booked(self, owner: User, name: str) -> None:
        """The transaction never ends: nothing is there to sweep."""
        with pytest.raises(Crash), connection.execute_wrapper(crashing(name)):
            upload(owner)
        assert sweep() == Swept()
        assert_nothing_is_left(owner)

    def test_a_crash_before_it_is_ready(self, owner: User) -> None:
        with pytest.raises(Crash), connection.execute_wrapper(crashing("UPDATE imagehost_file", "before")):
            upload(owner)
        assert (len(objects.all_keys()), File.objects.filter(state=State.PENDING).count()) == (2, 1)
        assert quotas.used(owner.pk) > 300
        assert sweep() == Swept(uploads=1)
        assert_nothing_is_left(owner)

    def test_a_crash_when_it_is_ready_loses_the_answer_alone(self, owner: User) -> None:
        with pytest.raises(Crash), connection.execute_wrapper(crashing("UPDATE imagehost_file")):
            upload(owner)
        assert sweep() == Swept()
        assert File.objects.ready().count() == len(objects.all_keys()) == 2

    @pytest.mark.parametrize(("fault", "is_written"), [("keep", False), ("after keep", True)])
    def test_a_crash_while_the_object_is_written(
        self, bucket: FaultyStorage, owner: User, fault: str, is_written: bool
    ) -> None:
        bucket.faults[fault] = Crash
        with pytest.raises(Crash):
            upload(owner)
        assert (len(objects.all_keys()), quotas.used(owner.pk) > 300) == (2 if is_written else 1, True)
        assert sweep() == Swept(uploads=1, leftovers=0)
        assert_nothing_is_left(owner)

    @pytest.mark.parametrize(
        ("name", "swept"),
        [
            ("UPDATE imagehost_file", Swept(uploads=1)),
            ("UPDATE imagehost_usage", Swept(uploads=1)),
            ("DELETE imagehost_file", Swept(deletions=1)),  # not committed
        ],
    )
    def test_a_crash_while_a_failed_upload_is_taken_back(
        self, bucket: FaultyStorage, owner: User, name: str, swept: Swept
    ) -> None:
        bucket.faults["keep"] = StorageFailed
        with pytest.raises(Crash), connection.execute_wrapper(crashing(name, is_booked=False)):
            upload(owner)
        assert sweep() == swept
        assert_nothing_is_left(owner)

    @pytest.mark.parametrize("name", UNDOING)
    def test_a_crash_of_the_sweep_itself(self, bucket: FaultyStorage, owner: User, name: str) -> None:
        bucket.faults["after keep"] = Crash
        with pytest.raises(Crash):
            upload(owner)
        with pytest.raises(Crash), connection.execute_wrapper(crashing(name)):
            sweep()
        sweep()
        assert_nothing_is_left(owner)


class TestDeletions:
    @pytest.mark.parametrize("fault", ["remove", "after remove", "after remove {preview}"])
    def test_a_crash_while_the_objects_are_removed(self, bucket: FaultyStorage, owner: User, fault: str) -> None:
        file = upload(owner)
        objects.put_key(file.preview_key)
        bucket.faults[fault.format(preview=file.preview_key)] = Crash
        with pytest.raises(Crash):
            files.delete(file=file, by=owner)
        assert quotas.used(owner.pk) == 300
        bucket.faults.clear()
        assert sweep() == Swept(deletions=1)
        assert_nothing_is_left(owner)

    @pytest.mark.parametrize("name", UNDOING)
    def test_a_crash_in_the_database(self, owner: User, name: str) -> None:
        file = upload(owner)
        with pytest.raises(Crash), connection.execute_wrapper(crashing(name)):
            files.delete(file=file, by=owner)
        sweep()
        if file.key in objects.all_keys():  # the deletion never happened
            assert (quotas.used(owner.pk), File.objects.ready().count()) == (300 + file.size, 2)
            files.delete(file=file, by=owner)
        assert_nothing_is_left(owner)
