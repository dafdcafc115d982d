"""Rows for tests, valid unless a test says otherwise."""

from typing import TYPE_CHECKING, Any, TypeVar

from factory.django import DjangoModelFactory

Row = TypeVar("Row")


class ModelFactory(DjangoModelFactory[Row]):
    """Calling a factory makes a row; the types of factory_boy do not say so."""

    class Meta:
        abstract = True

    if TYPE_CHECKING:

        def __new__(cls, **values: Any) -> Row: ...  # type: ignore[misc]  # a row, not a factory: that is the point
