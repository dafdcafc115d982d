"""Profiles as search engines read them: JSON-LD with the words of schema.org, in a block of data that nothing runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from django.utils.safestring import SafeString

# A text must not end the block, or begin a comment in it (HTML, 4.12.1.3): Django's `json_script` writes the same.
_ESCAPES = {ord(character): f"\\u{ord(character):04X}" for character in "<>&"}


def profile_page(person: Mapping[str, object], created_at: datetime) -> SafeString:
    """Return the data of a profile for a script element (https://schema.org/ProfilePage).

    `person`: properties of https://schema.org/Person, with the profile's `url`; empty ones are left out.
    """
    data = {
        "@context": "https://schema.org",
        "@type": "ProfilePage",
        "url": person["url"],
        "dateCreated": created_at.isoformat(),
        "mainEntity": {"@type": "Person", **{key: value for key, value in person.items() if value}},
    }
    return SafeString(json.dumps(data, ensure_ascii=False).translate(_ESCAPES))
