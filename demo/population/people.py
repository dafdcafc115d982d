"""The members: names, plans, marks and linked accounts, before anything is in the database; and what they write."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from accounts.models import LinkedAccount, User
from accounts.models.names import RESERVED_KEYS
from accounts.plans import Plan
from demo import invented
from demo.invented import SeededRandom, seeded
from infrastructure.databases import bulk
from lookup.shapes import addresses

words = invented.load("names")
OPENED_AT = datetime(2020, 6, 1, tzinfo=UTC)
LATEST = datetime(2026, 6, 1, tzinfo=UTC)  # nothing happens after it
GROWTH, AT_THE_END = timedelta(days=5 * 365), 10_000_000
CHAT_EPOCH = datetime(2015, 1, 1, tzinfo=UTC)
CHAT_FIRST = datetime(2015, 3, 1, tzinfo=UTC)  # from then on a snowflake has 17 digits
MAX_VIEWS = 5_000_000
PLANS = ((Plan.FREE, 0.84), (Plan.PREMIUM, 0.13), (Plan.IMAGEHOST, 0.03))


@dataclass
class Member:
    """Each step of making a member takes from `rng`, always in one order.

    `names`: wanted usernames, of which the last one is free; `aliases` likewise, if any. `level` (how full the profile
    is) and `linked` are set together with the username.
    """

    seed: int
    number: int
    rng: SeededRandom
    user: User
    names: list[str]
    aliases: list[str]
    views: int
    level: int = 0
    linked: list[LinkedAccount] = field(default_factory=list)

    @property
    def joined_at(self) -> datetime:
        return self.user.created_at


def user_id(seed: int, number: int) -> str:
    return seeded(seed, "member", number).new_id()


def joined_at(number: int) -> datetime:
    """Return when a member joined: growth is exponential, and the last of AT_THE_END joins at its end."""
    passed = GROWTH * (math.log1p(number) / math.log1p(AT_THE_END))
    return OPENED_AT + timedelta(seconds=int(passed.total_seconds()))


def member(seed: int, number: int, now: datetime) -> Member:
    """Return the member without uid and username, which depend on the existing rows."""
    rng = seeded(seed, "member", number)
    user = bulk.build(User, id=rng.new_id(), password=f"!{rng.new_id()}", created_at=joined_at(number))
    given = rng.choice(words.GIVEN)
    base, shown = _base_name(rng, given), _display_name(rng, given)
    user.display_name = shown
    user.plan, user.plan_expires_at = _plan(rng)
    views = min(MAX_VIEWS, int(30 / (1 - rng.random())) - 30 + rng.randrange(12))  # 1/n of them have n times 30 views
    user.is_verified = rng.chance(0.02 if views < 5000 else 0.35)
    user.public_api_access = not rng.chance(0.04)
    user.is_inactive = rng.chance(0.09)
    away = rng.randint(380, 900) if user.is_inactive else rng.randint(0, 300)
    user.last_login = max(now - timedelta(days=away, seconds=rng.randint(0, 86_399)), user.created_at)
    if rng.chance(0.007):
        user.is_active, user.banned_at = False, rng.timestamp(user.created_at, LATEST)
    aliases = _alternatives(rng, _base_name(rng, given), user.id[8:16]) if rng.chance(0.06) else []
    return Member(seed, number, rng, user, _alternatives(rng, base, user.id[:8]), aliases, views)


def _base_name(rng: SeededRandom, given: str) -> str:
    adjective, noun = rng.choice(words.ADJECTIVES), rng.choice(words.NOUNS)
    name: str = rng.weighted(words.NAMES).format(adjective=adjective, noun=noun, given=given)
    if rng.chance(0.12):
        name = "".join(part.capitalize() for part in name.replace("_", " ").replace(".", " ").replace("-", " ").split())
    return name


def _alternatives(rng: SeededRandom, base: str, surely: str) -> list[str]:
    """Return the name and alternatives to it."""
    return [
        base,
        f"{base}{rng.randint(10, 99)}",
        f"{base}{rng.randint(1990, 2012)}",
        f"{base}_{rng.randint(100, 9999)}",
        f"{base[:20]}_{surely}",
    ]


def choose(wanted: list[str], taken: set[str]) -> str:
    """Take the first free name. `taken`: keys of the namespace."""
    name = next((name for name in wanted if name.upper() not in taken), wanted[-1])
    taken.add(name.upper())
    return name


def wanted_keys(members: Collection[Member]) -> set[str]:
    return {name.upper() for member in members for name in (*member.names, *member.aliases)} - set(RESERVED_KEYS)


def _display_name(rng: SeededRandom, given: str) -> str:
    adjective, noun = rng.choice(words.ADJECTIVES), rng.choice(words.NOUNS)
    emoji, written = rng.choice(words.EMOJI), rng.choice(words.WRITTEN)
    parts = {"noun": noun, "emoji": emoji, "written": written}
    capitalized = {"Given": given.capitalize(), "Noun": noun.capitalize(), "Adjective": adjective.capitalize()}
    name: str = rng.weighted(words.DISPLAY_NAMES).format(**parts, **capitalized)
    return name


def _plan(rng: SeededRandom) -> tuple[Plan, datetime | None]:
    """Return the plan and its end, which most plans do not have."""
    plan = rng.weighted(PLANS)
    if plan is Plan.FREE or rng.chance(0.8):
        return plan, None
    ended = rng.chance(0.6)
    return plan, LATEST.replace(year=LATEST.year - 1 if ended else LATEST.year + 20, month=rng.randint(1, 12))


def linked_accounts(member: Member) -> Iterator[LinkedAccount]:
    rng, user = member.rng, member.user
    if rng.chance(0.62):
        yield bulk.build(
            LinkedAccount,
            user=user,
            kind=LinkedAccount.Kind.CHAT,
            external_id=snowflake(rng, rng.timestamp(CHAT_FIRST, user.created_at)),
            name=user.username.lower(),
            avatar_url=addresses.upload(f"demo/avatar-{rng.randint(1, 12)}.svg"),
            linked_at=rng.timestamp(user.created_at, LATEST),
        )
    if rng.chance(0.22):
        name = f"{user.username}-listens" if rng.chance(0.4) else user.username
        yield bulk.build(
            LinkedAccount,
            user=user,
            kind=LinkedAccount.Kind.SCROBBLER,
            external_id=name.lower(),
            name=name,
            linked_at=rng.timestamp(user.created_at, LATEST),
        )


def snowflake(rng: SeededRandom, made_at: datetime) -> str:
    """Return an id of the chat platform: milliseconds since its beginning, then 22 bits."""
    return str(int((made_at - CHAT_EPOCH).total_seconds() * 1000) << 22 | rng.getrandbits(22))


texts = invented.load("sentences")


def filled(rng: SeededRandom, template: str) -> str:
    """Replace the placeholders of a template."""
    if "{" not in template:
        return template
    thing, other = rng.some(texts.THINGS, 2, 2)
    text = template.format(thing=thing, other=other, craft=rng.choice(texts.CRAFTS))
    return text[0].upper() + text[1:]


def description(rng: SeededRandom) -> str:
    return filled(rng, rng.choice(texts.DESCRIPTIONS))


def about(rng: SeededRandom) -> str:
    return "\n\n".join(filled(rng, template) for template in rng.some(texts.ABOUT, 2, 5))


def comment(rng: SeededRandom) -> str:
    opening: str = rng.choice(texts.OPENINGS)
    remark: str = rng.choice(texts.REMARKS).replace("{thing}", rng.choice(texts.THINGS))
    if not opening.endswith((", ", ": ")):
        remark = remark[0].upper() + remark[1:]
    return f"{opening}{remark}{rng.choice(texts.CLOSINGS)}"
