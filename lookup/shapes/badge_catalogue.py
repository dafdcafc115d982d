"""The badges that the service comes with: plain data. Their artwork is in static/badges/standard/.

`lookup.editing.badge_tiers` puts them into the database, where staff may change them.
"""

from dataclasses import dataclass

CATALOG = "standard"

BRONZE, SILVER, GOLD, PINE, EMBER = "#b0743f", "#7b8b93", "#c99526", "#2c8a6c", "#cf5a2b"
# The colours of tiers, by their number: the last one never looks like one in the middle.
LADDERS = {
    2: (BRONZE, GOLD),
    3: (BRONZE, SILVER, GOLD),
    4: (BRONZE, SILVER, GOLD, PINE),
    5: (BRONZE, SILVER, GOLD, PINE, EMBER),
}


@dataclass(frozen=True, slots=True)
class CatalogTier:
    tier: int
    threshold: float
    title: str
    description: str
    color: str
    image: str


@dataclass(frozen=True, slots=True)
class CatalogBadge:
    """`rule` names the counter that unlocks the tiers; "" for a badge that staff give."""

    id: str
    name: str
    image: str
    rule: str
    order: int
    tiers: tuple[CatalogTier, ...]


# A badge without tiers: id, name. With tiers: id, name, rule, then threshold, title and description of each.
Step = tuple[float, str, str]
_LISTED: tuple[tuple[str, str] | tuple[str, str, str, tuple[Step, ...]], ...] = (
    (
        "staff",
        "Staff",
        "",
        (
            (1, "Helper", "Answers questions and shows newcomers around."),
            (2, "Moderator", "Keeps profiles and comments friendly."),
            (3, "Administrator", "Looks after members, apps and keys."),
            (4, "Lead", "Runs the service."),
        ),
    ),
    ("verified", "Verified"),
    ("partner", "Partner"),
    ("champion", "Champion"),
    ("winner", "Contest Winner"),
    ("premium", "Premium"),
    ("imagehost", "Image Host"),
    ("early-member", "Early Member"),
    (
        "booster",
        "Server Booster",
        "",
        (
            (1, "First Boost", "Boosts the chat server."),
            (3, "Steady Boost", "Has boosted the chat server for 3 months."),
            (6, "Strong Boost", "Has boosted the chat server for 6 months."),
            (12, "Full Orbit", "Has boosted the chat server for a year."),
        ),
    ),
    (
        "gifter",
        "Gifter",
        "",
        (
            (1, "Kind Gesture", "Gave premium to someone."),
            (5, "Generous", "Gave premium 5 times."),
            (10, "Open-Handed", "Gave premium 10 times."),
            (25, "Gift Giver Extraordinaire", "Gave premium 25 times."),
        ),
    ),
    (
        "donations",
        "Donor",
        "",
        (
            (10, "Supporter", "Donated 10 in all."),
            (50, "Backer", "Donated 50 in all."),
            (100, "Patron", "Donated 100 in all."),
            (250, "Benefactor", "Donated 250 in all."),
            (500, "Keeper of the Fire", "Donated 500 in all."),
        ),
    ),
    (
        "views",
        "Views",
        "VIEWS",
        (
            (100, "Noticed", "The profile was viewed 100 times."),
            (500, "Well Visited", "The profile was viewed 500 times."),
            (1000, "Popular", "The profile was viewed 1,000 times."),
            (2500, "Widely Known", "The profile was viewed 2,500 times."),
            (5000, "Talk of the Town", "The profile was viewed 5,000 times."),
        ),
    ),
    (
        "likes",
        "Likes",
        "LIKES",
        (
            (1, "First Like", "Somebody likes the profile."),
            (10, "Liked", "10 people like the profile."),
            (25, "Well Liked", "25 people like the profile."),
            (50, "Favorite", "50 people like the profile."),
        ),
    ),
    (
        "comments",
        "Comments",
        "COMMENTS",
        (
            (1, "First Words", "Somebody commented on the profile."),
            (10, "In Conversation", "The profile has 10 comments."),
            (25, "Meeting Place", "The profile has 25 comments."),
        ),
    ),
    (
        "level",
        "Level",
        "",
        (
            (5, "Level 5", "Reached level 5 in the chat server."),
            (10, "Level 10", "Reached level 10 in the chat server."),
            (25, "Level 25", "Reached level 25 in the chat server."),
            (50, "Level 50", "Reached level 50 in the chat server."),
            (100, "Level 100", "Reached level 100 in the chat server."),
        ),
    ),
    (
        "season",
        "Season",
        "",
        (
            (1, "Season Newcomer", "Took part in a season."),
            (2, "Season Regular", "Took part in 2 seasons."),
            (3, "Season Veteran", "Took part in 3 seasons."),
            (4, "All Seasons", "Took part in 4 seasons."),
        ),
    ),
    (
        "event",
        "Event",
        "",
        (
            (1, "Guest", "Took part in an event."),
            (5, "Regular Guest", "Took part in 5 events."),
            (10, "Guest of Honour", "Took part in 10 events."),
        ),
    ),
    ("guild-tag", "Guild Tag"),
    (
        "bug-hunter",
        "Bug Hunter",
        "",
        (
            (1, "Bug Hunter", "Reported a bug that was fixed."),
            (10, "Master Bug Hunter", "Reported 10 bugs that were fixed."),
        ),
    ),
    ("developer", "Developer"),
    ("translator", "Translator"),
    ("tester", "Tester"),
    ("artist", "Artist"),
    ("contributor", "Contributor"),
)


def _tiers(badge_id: str, steps: tuple[Step, ...]) -> tuple[CatalogTier, ...]:
    return tuple(
        CatalogTier(
            tier=number,
            threshold=threshold,
            title=title,
            description=description,
            color=LADDERS[len(steps)][number - 1],
            image=f"{badge_id}-{number}.svg",
        )
        for number, (threshold, title, description) in enumerate(steps, start=1)
    )


def _badge(order: int, badge_id: str, name: str, rule: str = "", steps: tuple[Step, ...] = ()) -> CatalogBadge:
    return CatalogBadge(badge_id, name, f"{badge_id}.svg", rule, order, _tiers(badge_id, steps))


# Orders leave room for badges that staff put in between.
BADGES: tuple[CatalogBadge, ...] = tuple(_badge(10 * place, *listed) for place, listed in enumerate(_LISTED, start=1))
