"""Gives pytest the production shape that its caller has started."""

from __future__ import annotations

import pytest

from tests.journeys.operators import Operator
from tests.journeys.services import GIVEN, Service
from tests.production.shape import Shape

SHAPE = pytest.StashKey[Shape]()


class Plugin:
    def __init__(self, shape: Shape, operator: Operator) -> None:
        self._shape, self._operator = shape, operator

    def pytest_configure(self, config: pytest.Config) -> None:
        logs = tuple(program.log for program in self._shape.programs.values())
        config.stash[SHAPE] = self._shape
        config.stash[GIVEN] = Service(self._shape.base_url, logs, self._operator, self._shape.post_office)
