"""What the generated members are called, and what they say of themselves."""

from demo import vocabulary

_texts = vocabulary.lists("chat_words")

GIVEN = _texts["GIVEN"]
ADJECTIVES = _texts["ADJECTIVES"]
NOUNS = _texts["NOUNS"]
EMOJI = _texts["EMOJI"]
TAGS = _texts["TAGS"]
NAMEPLATES = _texts["NAMEPLATES"]
BIOGRAPHIES = _texts["BIOGRAPHIES"]
STATUSES = (
    ("Back in ten minutes", "☕"),
    ("drawing until it looks like something", "🎨"),
    ("do not wake", "😴"),
    ("", "🌙"),
    ("in the middle of a build", None),
    ("listening to the rain", "🌧️"),
    ("looking for a fourth player", "🎲"),
    ("exam season", "📚"),
)
CUSTOM_EMOJI = (
    ("blobwave", "268473310771200101", True),
    ("catjam", "268473310771200102", True),
    ("frogtea", "268473310771200103", False),
)
