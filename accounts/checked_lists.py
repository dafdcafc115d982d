"""Lists of the admin, and the keys that they are sent: some that no browser sends make a database raise."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.http import HttpRequest, HttpResponseRedirect


def are_possible(model: type[Model], keys: list[str]) -> bool:
    """Whether each could be a key of the model's table."""
    column = model._meta.pk
    try:
        for key in keys:
            column.run_validators(column.to_python(key))
    except ValidationError:
        return False
    return not any("\x00" in key for key in keys)


class CheckedListAdmin(ModelAdmin[Any]):
    """Any: rows of a model."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        """Any: as Django's."""
        if are_possible(self.model, request.POST.getlist(ACTION_CHECKBOX_NAME)):
            return super().changelist_view(request, extra_context)
        self.message_user(request, "There is no such row.", messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())
