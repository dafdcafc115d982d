"""The requests of each case, the same for all servers but for the paths."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from benchmarks import engines, load
from benchmarks.sign_in import values
from benchmarks.sign_in.values import ACCESS, CODE, REFRESH, Plan


@dataclass(frozen=True)
class Paths:
    """Where a server's endpoints are."""

    token: str
    userinfo: str
    introspect: str


def refresh(paths: Paths, plan: Plan, numbers: Iterable[int]) -> Iterator[bytes]:
    for number, more in zip(numbers, _addresses(), strict=False):
        form = {"grant_type": "refresh_token", "refresh_token": values.secret(REFRESH, number)}
        yield load.request(paths.token, method="POST", headers=_as_app(plan, number) | more, form=form)


def exchange(paths: Paths, plan: Plan, numbers: Iterable[int]) -> Iterator[bytes]:
    for number, more in zip(numbers, _addresses(), strict=False):
        form = {
            "grant_type": "authorization_code",
            "code": values.secret(CODE, number),
            "redirect_uri": values.REDIRECT_URL,
            "code_verifier": values.verifier(number),
        }
        yield load.request(paths.token, method="POST", headers=_as_app(plan, number) | more, form=form)


def userinfo(paths: Paths, plan: Plan, numbers: Iterable[int]) -> Iterator[bytes]:
    del plan  # of the same form as the others
    for number, more in zip(numbers, _addresses(), strict=False):
        bearer = f"Bearer {values.secret(ACCESS, number)}"
        yield load.request(paths.userinfo, headers={"Authorization": bearer, **more})


def introspect(paths: Paths, plan: Plan, numbers: Iterable[int]) -> Iterator[bytes]:
    for number, more in zip(numbers, _addresses(), strict=False):
        form = {"token": values.secret(ACCESS, number)}
        yield load.request(paths.introspect, method="POST", headers=_as_app(plan, number) | more, form=form)


def _as_app(plan: Plan, token: int) -> dict[str, str]:
    return {"Authorization": values.app(plan.app_of(token)).basic}


def _addresses() -> Iterator[dict[str, str]]:
    """A limit refuses none of them: each address asks a few times a minute."""
    for number in itertools.count():
        address = f"10.77.{number // 256 % 256}.{number % 256}"
        yield {engines.ADDRESS_HEADER: address}
