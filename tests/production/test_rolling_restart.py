"""Web hosts restart one after the other, as docs/installation.md says, and no request fails."""

from __future__ import annotations

import requests

from tests.production.callers import Caller
from tests.production.shape import Shape
from tests.production.waiting import TIMEOUT, asking, until


def test_requests_that_may_be_repeated_go_to_the_other_host(shape: Shape, caller: Caller) -> None:
    with asking(caller.look_up) as found:
        for web in shape.both("web"):
            web.stop()
            web.start()
            web.wait_until_ready()
            until(shape.is_ready)
    print(f"Rolling restart: {dict(found)}")
    assert set(found) == {200}, found
    assert found[200] > 20


def test_any_request_is_answered_where_nginx_leaves_the_host_out_first(shape: Shape) -> None:
    """A client of its own for each request: nginx closes idle connections when it reads its configuration again."""

    def refresh(_: requests.Session) -> requests.Response:
        data = {"grant_type": "refresh_token", "refresh_token": "x"}
        url = f"{shape.base_url}/api/auth/oauth2/token"
        return requests.post(url, data=data, auth=("no-app", "no-secret"), timeout=TIMEOUT)

    both = [web.port for web in shape.both("web")]
    with asking(refresh) as found:
        for web in shape.both("web"):
            shape.edge.use([port for port in both if port != web.port])
            web.stop()
            web.start()
            web.wait_until_ready()
            shape.edge.use(both)
    print(f"Rolling restart with nginx: {dict(found)}")
    assert set(found) == {401}, found
    assert found[401] > 20
    until(shape.is_ready)
