"""Answers one lookup with all includes, from the read model and by reading the tables and serializing, interleaved.

Run: .venv/bin/python manage.py shell < benchmarks/lookup.py
on a database with demo data; prints the median of each and the ratio.
"""

import json
import statistics
import time
from collections.abc import Callable

from django.http import QueryDict
from django.utils import timezone

from lookup import documents, queries, rows
from lookup.models import UserDocument
from lookup.openapi import INCLUDES
from lookup.serializers.current import CommentSerializer, UserSerializer
from lookup.views import current

ROUNDS, CALLS = 15, 20
USERNAME = "ada"
ALL = QueryDict("&".join([f"type=username&value={USERNAME}", *(f"{name}=true" for name in INCLUDES)]))
BASIC = QueryDict(f"type=username&value={USERNAME}")


def from_tables() -> bytes:
    """What the lookup would do without the read model: the same serializers at every request."""
    user = rows.read_user("username", USERNAME.upper(), [], timezone.now())
    if user is None:
        raise SystemExit(f"There is no user {USERNAME}.")
    (one,) = queries.whole([user.profile_id])
    texts = documents.rendered(one) | documents.user_columns(one)
    figures = UserDocument.objects.get(pk=user.id)
    comments = [CommentSerializer(row).data for row in rows.read_comments(user.id)]
    body = {"user": UserSerializer(user).data, "views": figures.views, "comments": comments}
    return (json.dumps(body) + "".join(str(text) for text in texts.values())).encode()


def microseconds(answer: Callable[[], bytes]) -> float:
    start = time.perf_counter()
    for _ in range(CALLS):
        answer()
    return (time.perf_counter() - start) / CALLS * 1e6


WAYS: dict[str, Callable[[], bytes]] = {
    "read model, all includes": lambda: current.answer(ALL, timezone.now()),
    "read model, user alone": lambda: current.answer(BASIC, timezone.now()),
    "tables, all includes": from_tables,
}
for answer in WAYS.values():
    answer()
measured = [[microseconds(answer) for answer in WAYS.values()] for _ in range(ROUNDS)]
medians = dict(zip(WAYS, (statistics.median(column) for column in zip(*measured, strict=True)), strict=True))
for name, median in medians.items():
    print(f"{name}: {median:.0f} us")
print(f"{medians['tables, all includes'] / medians['read model, all includes']:.0f} times")
