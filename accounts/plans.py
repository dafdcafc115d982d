"""What a plan gives. Pure rules."""

from django.db.models import TextChoices


class Plan(TextChoices):
    """Each plan holds what the one before it holds."""

    FREE = "FREE", "Free"
    PREMIUM = "PREMIUM", "Premium"
    IMAGEHOST = "IMAGEHOST", "ImageHost"


PREMIUM_PLANS = frozenset({Plan.PREMIUM, Plan.IMAGEHOST})
