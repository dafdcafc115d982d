"""The words that members make their names of. None of them is a reserved name (accounts.models.names)."""

ADJECTIVES = (
    "amber ancient autumn bold brave bright brisk calm candid clever cobalt copper cosy crimson curious dapper daring "
    "distant dusty eager early electric fabled fearless fern fleeting floral frosty gentle gilded gleaming golden "
    "grand happy hazel hidden hollow honest humble idle indigo ivory jade jolly keen kind lively lone lucid lucky "
    "lunar mellow merry midnight misty modest mossy nimble noble northern opal pale patient plain polar proud quick "
    "quiet rainy rapid restless rosy rustic saffron scarlet secret serene silent silver sleepy slow smoky snowy soft "
    "solar steady stormy sunny swift tender tidal tiny true velvet violet wandering warm wild windy winter witty "
    "wooden young"
).split()
NOUNS = (
    "acorn anchor aspen atlas badger basil bay beacon bear beetle birch bloom bramble branch breeze brook canyon cedar "
    "cinder clover cloud comet compass coral cove crane creek cricket crow current dawn deer delta dove drift dune "
    "dusk echo elm ember falcon fawn feather field finch fjord flame flint forest fox frost garden glade grove gull "
    "harbor hare harvest heath hedge heron hill horizon ibis iris island ivy jasper juniper kestrel kite lagoon "
    "lantern lark laurel leaf lichen lily lynx magpie maple marsh meadow moon moss moth mountain nettle newt night "
    "oak oasis ocean olive orbit orchard otter owl panda pebble pepper pine plum pond poppy prairie puffin quail "
    "quartz raven reef ridge river robin rook rowan sage sail seal shore sky snail spark sparrow spruce squid star "
    "stone stork storm stream sun swallow swan thicket thistle thrush thyme tide tiger trail trout tulip tundra valley "
    "vine vole walnut warbler wave whale willow wind wolf wren yarrow zephyr"
).split()
GIVEN = (
    "aisha akira alba alex alina amara amir ana anders anouk anton anya ari arthur asha astrid aurora basia bea "
    "bela bianca bjorn bruno cai camila carla casper cecil celia chen clara cora cyrus dana dario deniz diego dina "
    "edith elena eli elif elio elsa emeka emil emma enzo esme esther ezra farah felix fern finn fiona flora frida "
    "gabe gaia george greta hana hanna hugo ida idris ilse imani ines ingrid iris isak isla ivan ivo jae jana jasmin "
    "jin joan joel jonas josie julia juno kai karim kasia keiko kira klara kofi lars laila lea lena leo lev lina linus "
    "liv lola lucia luka mae maja malik mara marek maria mateo max maya mei mia mika mila milo mina miro mona nadia "
    "naomi nell nia nico nina noa noor nora odin olga olive omar oscar otto paula petra pia priya quinn rafa ravi "
    "remy rhea rin rosa rowan ruben ruth sami sana sara selma sigrid sofia sol stella sven tao tara teo thea theo "
    "tilda tomas tove uma vera viktor vita wanda wei wren xenia yara yuki yusuf zadie zara zoe zora"
).split()
# Display names that no username can spell.
WRITTEN = (
    *("Zoë", "Renée", "Søren", "Łukasz", "Mårten", "Jürgen", "Chloé", "Iñaki", "Bär & Birke", "Åsa", "Ágnes", "Ömer"),
    *("Şirin", "Đorđe", "Ngọc", "Žofie", "Νεφέλη", "Айгуль", "Мирослав", "さくら", "ひなた", "우진", "하늘", "小雨"),
    *("林夏", "فاطمة", "יונתן", "अनन्या", "ธารา", "ნინო"),
)
EMOJI = (
    *(
        "🌿",
        "🌙",
        "✨",
        "🔥",
        "🍂",
        "🌊",
        "🎧",
        "🎨",
        "🦊",
        "🐾",
        "☕",
        "🌻",
        "🫐",
        "🕯️",
        "📚",
        "🪴",
        "🌈",
        "❄️",
        "🍀",
        "🎲",
    ),
)
PLACES = (
    *("Lisbon", "Kyoto", "Reykjavík", "São Paulo", "Montréal", "Gdańsk", "Nairobi", "Wellington", "Oslo", "Busan"),
    *("Valparaíso", "Ljubljana", "Edinburgh", "Accra", "Tbilisi", "Hanoi", "Zürich", "Oaxaca", "Galway", "Pune"),
    *(
        "by the harbour",
        "somewhere north",
        "the old town",
        "a quiet valley",
        "the last train home",
        "between time zones",
    ),
    *("near the lighthouse", "UTC+2", "UTC-5", "the rainy coast", "under the pines", "the third floor"),
)
