"""What a search for people takes, by the service's own code: `python -m benchmarks.searches --folder F`.

Prints the p99 in ms of each way to plan a statement: PostgreSQL chooses one of them after five runs.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from pathlib import Path

from benchmarks import population

PLANS = ("force_generic_plan", "force_custom_plan")
RUNS = 500  # of each kind of term
LENGTHS = (2, 3, 5, 32)
WITHOUT_MATCH = ("qxz", "%%", "__", "a%b", "_x_", "\\%", "zzzzzzzzzz", "0x_")


def terms(names: list[str]) -> list[str]:
    """Return beginnings of names, the commonest more often, and terms that few names or none begin with."""
    dice = random.Random(population.SEED)  # noqa: S311 - no secret
    begun = [name[:length] for length in LENGTHS for name in dice.choices(names, k=RUNS)]
    return [*begun, *dice.choices(WITHOUT_MATCH, k=RUNS)]


def _measure(names: list[str]) -> dict[str, float]:
    """Return the p99 of each plan, in ms."""
    import django

    django.setup()
    from django.db import connection

    from lookup import people
    from lookup.views.people import MOST

    found = {}
    for plan in PLANS:
        with connection.cursor() as cursor:
            cursor.execute(f"SET plan_cache_mode = {plan}")
        took = []
        for term in [*names[:100], *terms(names)]:
            start = time.perf_counter()
            people.find(term, MOST)
            took.append((time.perf_counter() - start) * 1000)
        found[plan] = statistics.quantiles(took[100:], n=100)[98]
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    print(json.dumps(_measure(population.read(parser.parse_args().folder).names)))
