"""New rows of any tables, gathered to be inserted together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Model

from accounts.models import LinkedAccount, Name, User
from infrastructure.databases import bulk
from lookup import models

Row = TypeVar("Row", bound=Model)

# Referenced rows come first; only linked accounts come before their users, as each one that is added to a user
# raises the version that documents are rendered from.
ORDER: tuple[type[Model], ...] = (
    *(LinkedAccount, User, Name, models.Asset, models.Profile, models.Alias, models.ProfileBadge, models.CustomBadge),
    *(models.Widget, models.Audio, models.Background, models.Link, models.Project, models.Section, models.GalleryItem),
    *(models.FeedbackVote, models.Comment, models.CommentLike, models.ProfileDocument, models.UserDocument),
)


class Rows:
    def __init__(self) -> None:
        self._of: dict[type[Model], list[Model]] = defaultdict(list)

    def add(self, *rows: Model) -> None:
        for row in rows:
            self._of[type(row)].append(row)

    def extend(self, rows: Iterable[Model]) -> None:
        self.add(*rows)

    def of(self, model: type[Row]) -> list[Row]:
        return [row for row in self._of[model] if isinstance(row, model)]

    def insert(self) -> None:
        """Insert the rows as they are: no `save()`, no hooks."""
        if unknown := set(self._of) - set(ORDER):
            raise ValueError(f"No place in the order: {', '.join(model.__name__ for model in unknown)}")
        for model in ORDER:
            bulk.insert(self._of[model])
