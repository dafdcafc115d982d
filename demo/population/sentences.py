"""What members write about themselves and to one another. `{thing}` and the like are filled in by `filled`."""

from __future__ import annotations

from demo.seeded_random import SeededRandom

THINGS = (
    *("film cameras", "old maps", "night trains", "sourdough", "field recordings", "board games", "typography"),
    *("mechanical keyboards", "moss", "tide pools", "pixel art", "puppet theatre", "synthesisers", "knitting"),
    *("paper lanterns", "bird song", "city bikes", "letterpress", "rooftop gardens", "short stories", "weather"),
    *("hiking huts", "chess endings", "watercolours", "ceramics", "radio plays", "star charts", "second-hand books"),
    *("small web pages", "puzzle boxes", "cold-water swimming", "sign painting", "slow cooking", "cloud photographs"),
)
CRAFTS = (
    *("illustrator", "backend developer", "gardener", "nurse on night shifts", "student", "sound designer", "baker"),
    *("teacher", "carpenter", "archivist", "game designer", "translator", "botanist", "data analyst", "stage manager"),
    *("bookbinder", "frontend developer", "cartographer", "photographer", "luthier", "physicist", "barista"),
)
DESCRIPTIONS = (
    "{craft}. Mostly here for {thing}.",
    "{craft} by day, {thing} by night.",
    "I collect {thing} and forget where I put them.",
    "Making small things for a small corner of the web.",
    "Slow replies, warm regards.",
    "{thing}, {other} and too much tea.",
    "Learning to finish what I start.",
    "Ask me about {thing}.",
    "Part-time {craft}, full-time optimist.",
    "Currently reading more than I write.",
    "Here for the conversations.",
    "Building quiet tools for busy people.",
    "Long walks, short posts.",
    "{thing} over everything, {other} if it rains.",
    "Two cats, one synth, no plan.",
    "Somewhere between {thing} and {other}.",
)
ABOUT = (
    "Hello, and thank you for stopping by.",
    "I started with {thing} some years ago and never quite stopped.",
    "By trade: {craft}. The rest of the week belongs to {other}.",
    "On this page you will find what I make, what I listen to and where to write to me.",
    "I like projects that can be explained in one sentence and take a year to finish.",
    "If you want to work on something together, leave a comment: I read all of them.",
    "Most of what I know I learned from people who took the time to explain it twice.",
    "Outside of the screen you will find me near water, or in a queue for bread.",
    "I keep a list of everything I would like to learn; {thing} is still at the top.",
    "Nothing here is finished, and that is rather the point.",
)
TITLES = ("About me", "Hello", "Who is this?", "In a few words", "A short introduction")
NOTES_TITLES = ("Now", "House rules", "On my desk", "Good to know", "This month")
NOTES = (
    "This month: less scrolling, more {thing}.",
    "Commissions are open. Write to me first, and tell me what you have in mind.",
    "Please do not repost my pictures without asking. If you ask, I will almost certainly say yes.",
    "On my desk: a half-finished letter, three pencils and a book about {thing}.",
    "I answer messages on Sundays. If it is urgent, say so in the first line.",
    "Trading {thing} for {other}. Serious offers and silly ones are both welcome.",
    "Back from a fortnight without signal. It was very good.",
)
OPENINGS = (
    "",
    "",
    "",
    "",
    "Hey! ",
    "Oh, ",
    "Hi there. ",
    "Just passing by: ",
    "Finally found you. ",
    "Wow. ",
    "Hello! ",
)
REMARKS = (
    "this page is lovely.",
    "your gallery made my evening.",
    "those colours go so well together.",
    "thank you for the playlist, it carried me through a long week.",
    "I did not expect to meet somebody else who likes {thing}.",
    "how did you make the background?",
    "we should talk about {thing} some time.",
    "it was good to meet you at the event.",
    "I keep coming back for the music.",
    "your notes on {thing} helped me a lot.",
    "such a cosy corner.",
    "the new banner is wonderful.",
    "congratulations on the badge, well deserved.",
    "I recommended your page to a friend who is into {thing}.",
    "please write more about {thing}.",
    "you were right about the tea.",
    "best profile I have seen this week.",
    "I tried your project over the weekend, and it just worked.",
    "your taste in games is impeccable.",
    "greetings from the other side of the map.",
    "count me in for the next round.",
    "this is exactly what I was looking for.",
    "the typography here is so calm.",
    "happy birthday, if I remember correctly.",
    "let me know when the next part is out.",
    "I have been listening to that album all day because of you.",
    "see you in the chat tonight?",
    "you always make newcomers feel at home.",
    "which camera did you use for the second picture?",
    "still thinking about our talk on {thing}.",
)
CLOSINGS = ("", "", "", "", "", " Take care!", " 🌿", " ✨", " Keep it up.", " Greetings!", " Have a good week.", " 🙌")
REPLIES = (
    "Thank you, that means a lot.",
    "Glad you like it!",
    "Any time.",
    "I agree with every word.",
    "I will write it down, promise.",
    "Yes, let us do that.",
    "It took me three evenings, but it was worth it.",
    "So kind of you. Your page is great too.",
    "Count on it.",
    "Same here, to be honest.",
    "Found it at a flea market, of all places.",
    "Next week, if nothing comes up.",
    "You made my day.",
    "Ha, I was hoping somebody would notice.",
)
CAPTIONS = (
    *("First light", "The way home", "After the rain", "Study in green", "Window seat", "Low tide", "The long table"),
    *(
        "Third attempt",
        "From the hill",
        "Evening walk",
        "Test print",
        "A quiet corner",
        "Sunday",
        "Before the storm",
        "",
    ),
)
SONGS = (
    *("Paper Lanterns", "Slow Train North", "Salt and Cedar", "Kitchen Light", "The Long Way Down to the Water"),
    *(
        "Half Past Quiet",
        "Small Hours",
        "Open Window",
        "Copper Wire",
        "Harbour Lullaby",
        "Two Stations On",
        "Moth Season",
    ),
)
ARTISTS = ("The Tin Orchard", "Velvet Ferry", "Mina Harrow", "Night Shift Choir", "Oslo Garden", "Paper Weather")
LINK_TITLES = (
    ("Website", "website"),
    ("Blog", "blog"),
    ("Portfolio", "portfolio"),
    ("Code", "code"),
    ("Shop", "shop"),
    ("Photos", "photos"),
    ("Music", "music"),
    ("Community", "chatServer"),
    ("Newsletter", "newsletter"),
    ("Follow me", "social"),
    ("Play with me", "game"),
    ("Write to me", "messaging"),
    ("My statistics", "stats"),
)
PROJECTS = (
    ("Lantern Atlas", "A map of every street lamp in my town, drawn by hand.", ("maps", "drawing")),
    ("Tidebook", "Tide tables as a tiny printable book.", ("print", "python")),
    ("Quiet Hours", "A timer that dims the room instead of ringing.", ("hardware", "sound")),
    ("Mosswork", "Growing patterns, on the screen and on the wall.", ("generative", "web")),
    ("Letterbox", "A shared mailbox for people who live together.", ("web", "open source")),
    ("Night Bus", "A short game about the last bus of the day.", ("game", "pixel art")),
    ("Fieldnotes", "Notes that remember where they were written.", ("mobile", "maps")),
    ("Loom", "A sequencer that thinks in weaving patterns.", ("music", "web")),
    ("Seed Library", "Who has which seeds, and who would like some.", ("community", "database")),
    ("Slow Feed", "One post a day, chosen by a friend.", ("web", "design")),
)


def filled(rng: SeededRandom, template: str) -> str:
    if "{" not in template:
        return template
    thing, other = rng.some(THINGS, 2, 2)
    text = template.format(thing=thing, other=other, craft=rng.choice(CRAFTS))
    return text[0].upper() + text[1:]


def description(rng: SeededRandom) -> str:
    return filled(rng, rng.choice(DESCRIPTIONS))


def about(rng: SeededRandom) -> str:
    return "\n\n".join(filled(rng, template) for template in rng.some(ABOUT, 2, 5))


def comment(rng: SeededRandom) -> str:
    opening = rng.choice(OPENINGS)
    remark = rng.choice(REMARKS).replace("{thing}", rng.choice(THINGS))
    if not opening.endswith((", ", ": ")):
        remark = remark[0].upper() + remark[1:]
    return opening + remark + rng.choice(CLOSINGS)
