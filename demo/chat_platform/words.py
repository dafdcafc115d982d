"""What the generated members are called, and what they say of themselves."""

GIVEN = (
    "mira tomas lena oskar yuki ravi noor elsa felix dana ivo pia jonas aiko samir clara nils vera marco tess amir "
    "juno kofi lotte bruno zara emil hana theo rosa ilya maya finn sora otis nadia paul inez luka freya"
).split()
ADJECTIVES = (
    "quiet amber lucid paper velvet rusty north tiny hollow solar misty clever frozen gentle rapid wild mellow iron "
    "pale lunar salty sleepy golden distant crooked"
).split()
NOUNS = (
    "fox harbor comet lantern river moth signal garden pixel raven kettle meadow orbit teapot cactus badger window "
    "static thimble otter willow beacon marble sparrow anchor"
).split()
EMOJI = "🌿 ✨ 🌙 🎧 ☕ 🐈 🔥 🫧 🌊 🍀".split()
TAGS = "MOSS NOVA KITE LUNA WAVE FERN ECHO BYTE".split()
NAMEPLATES = "koi lotus cityscape aurora vines".split()
BIOGRAPHIES = (
    "Making small games after work.",
    "she/her · tea, trains and synthesizers",
    "You can call me **anything** but early.",
    "Ask me about birds.",
    "Open for commissions!\nSee the link on my page.",
    "Currently rebuilding the same keyboard for the third time ⌨️",
    "Somewhere between Oslo and the sofa.",
)
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
