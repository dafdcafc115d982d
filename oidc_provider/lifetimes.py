"""The lifetimes of the settings in words, for messages and documentation: "10 minutes"."""

from django.conf import settings
from oauth2_provider.settings import oauth2_settings

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def in_words(seconds: int) -> str:
    """Return `seconds` in the largest unit that divides them."""
    fitting = ((unit, size) for unit, size in _UNITS if seconds and seconds % size == 0)
    unit, size = next(fitting, ("second", 1))
    count = seconds // size
    return f"{count} {unit}{'' if count == 1 else 's'}"


CODE = in_words(oauth2_settings.AUTHORIZATION_CODE_EXPIRE_SECONDS)
ACCESS_TOKEN = in_words(oauth2_settings.ACCESS_TOKEN_EXPIRE_SECONDS)
REFRESH_TOKEN = in_words(oauth2_settings.REFRESH_TOKEN_EXPIRE_SECONDS)
GRACE_PERIOD = in_words(oauth2_settings.REFRESH_TOKEN_GRACE_PERIOD_SECONDS)
REQUEST = in_words(int(settings.AUTHORIZATION_REQUEST_LIFETIME.total_seconds()))
