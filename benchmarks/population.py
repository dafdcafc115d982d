"""The members, keys and boards that the measurements read: `python -m benchmarks.population`.

The same for the same number of members. The names of members that a lookup may show and the secrets of the keys are
written into a folder, for those who build requests.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bench import ROOT, Bench

KEYS, ADDRESSES = 3000, 20_000
SEED = 1


@dataclass(frozen=True)
class Population:
    """What requests are built from. `names` are usernames in the order of their uids."""

    names: list[str]
    keys: list[str]
    addresses: list[str]
    folder: Path

    def sample(self, count: int) -> list[str]:
        """Some of the names: the first ones, then some of the others."""
        half = count // 2
        return self.names[:half] + self.names[half :: max(1, len(self.names) // half)][:half]

    def callers(self, seed: int) -> list[dict[str, str]]:
        """Headers of requests that no limit refuses: every key and every address as often as any other, in no
        order."""
        dice = random.Random(seed)  # noqa: S311 - no secret
        keys, addresses = (dice.sample(some, len(some)) for some in (self.keys, self.addresses))
        return [
            {"X-API-Key": keys[number % len(keys)], "X-Client-Address": address}
            for number, address in enumerate(addresses)
        ]


def make(bench: Bench) -> Population:
    """Migrate, load the members and the keys, and say where they are."""
    folder = bench.directory / "population"
    folder.mkdir(exist_ok=True)
    manage = [sys.executable, str(ROOT / "manage.py")]
    own = [sys.executable, "-m", "benchmarks.population", "--keys", str(KEYS), "--folder", str(folder)]
    for command in (
        [*manage, "migrate", "--verbosity", "0"],
        [*manage, "seed_demo", "--users", str(bench.members), "--yes"],
        own,
        [*manage, "rank_leaderboards"],
    ):
        bench.say(" ".join(Path(part).name for part in command[1:4]))
        subprocess.run(command, cwd=ROOT, env=bench.environment, check=True, stdin=subprocess.DEVNULL)
    return read(folder)


def read(folder: Path) -> Population:
    names, keys = (json.loads((folder / f"{name}.json").read_text()) for name in ("names", "keys"))
    dice = random.Random(SEED)  # noqa: S311 - no secret
    addresses = [f"10.{dice.randrange(256)}.{dice.randrange(256)}.{dice.randrange(256)}" for _ in range(ADDRESSES)]
    return Population(names, keys, addresses, folder)


def _write(folder: Path, count: int) -> None:
    """The names and the secrets. The owners of keys have premium: a key of theirs makes twice as many requests."""
    import django

    django.setup()
    from accounts.models import ApiKey, Permission, User
    from accounts.plans import PREMIUM_PLANS
    from infrastructure import hashing
    from lookup.shapes import settings_schema

    shown = User.objects.filter(is_active=True, public_api_access=True).order_by("uid")
    owners = list(shown.filter(plan__in=PREMIUM_PLANS, plan_expires_at=None).values_list("pk", flat=True)[:count])
    secrets = [f"ik_bench{number:04}_{number:040}" for number in range(count)]
    ApiKey.objects.bulk_create(
        [
            ApiKey(
                owner_id=owners[number % len(owners)],
                prefix=secret[:12],
                secret_hash=hashing.digest(secret),
                permissions=[permission.value for permission in Permission],
            )
            for number, secret in enumerate(secrets)
        ],
        ignore_conflicts=True,
    )
    found = {"names": list(shown.values_list("username", flat=True)), "keys": secrets}
    found["settings"] = settings_schema.filled({})  # type: ignore[assignment]  # an object, for the peers
    for name, value in found.items():
        (folder / f"{name}.json").write_text(json.dumps(value))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, default=KEYS)
    parser.add_argument("--folder", type=Path, required=True)
    chosen = parser.parse_args()
    _write(chosen.folder, chosen.keys)
