"""The words that members make their names of. None of them is a reserved name (accounts.models.names)."""

from demo import vocabulary

_texts = vocabulary.lists("names")

ADJECTIVES = _texts["ADJECTIVES"]
NOUNS = _texts["NOUNS"]
GIVEN = _texts["GIVEN"]
# Display names that no username can spell.
WRITTEN = _texts["WRITTEN"]
EMOJI = _texts["EMOJI"]
PLACES = _texts["PLACES"]
