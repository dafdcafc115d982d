"""The sizes of each plan. Pure rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from django.db.models import TextChoices


class Plan(TextChoices):
    """Each plan holds what the one before it holds."""

    FREE = "FREE", "Free"
    PREMIUM = "PREMIUM", "Premium"
    IMAGEHOST = "IMAGEHOST", "ImageHost"


PREMIUM_PLANS = frozenset({Plan.PREMIUM, Plan.IMAGEHOST})

MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * MEGABYTE


@dataclass(frozen=True)
class Allowance:
    """What a plan lets the image host keep, in bytes: of one file, and in all."""

    max_file_size: int
    max_storage: int


ALLOWANCES: Mapping[Plan, Allowance] = MappingProxyType(
    {
        Plan.FREE: Allowance(75 * MEGABYTE, 1 * GIGABYTE),
        Plan.PREMIUM: Allowance(150 * MEGABYTE, 10 * GIGABYTE),
        Plan.IMAGEHOST: Allowance(250 * MEGABYTE, 100 * GIGABYTE),
    }
)
LARGEST_FILE = max(allowance.max_file_size for allowance in ALLOWANCES.values())
LARGEST_BODY = LARGEST_FILE + 50 * MEGABYTE
"""Bytes of a request: a file of the largest plan in a form, or several files. `deploy/nginx.conf` repeats it."""
