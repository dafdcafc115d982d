"""Users are numbered from 0, without gaps."""

import pytest
from django.db import transaction

from accounts.models import User
from tests.support.threads import together


@pytest.mark.django_db
def test_the_first_user_has_uid_0_and_the_next_ones_follow() -> None:
    assert [User.objects.create_user(f"person{number}").uid for number in range(3)] == [0, 1, 2]


@pytest.mark.django_db
def test_saving_a_user_again_keeps_its_uid() -> None:
    user = User.objects.create_user("person")
    user.display_name = "Person"
    user.save()
    assert (user.uid, User.objects.get().uid) == (0, 0)


@pytest.mark.embedded
@pytest.mark.django_db(transaction=True)
def test_sign_ups_at_once_of_which_every_other_fails_leave_no_gap() -> None:
    def sign_up(number: int) -> None:
        try:
            with transaction.atomic():
                User.objects.create_user(f"person{number}")
                if number % 2:
                    raise ZeroDivisionError
        except ZeroDivisionError:
            pass

    together(8, sign_up)
    assert list(User.objects.order_by("uid").values_list("uid", flat=True)) == list(range(4))
