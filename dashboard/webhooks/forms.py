"""The forms of webhooks: address and events, the rotation of the secret, and the filter of deliveries."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.html import format_html

from accounts.models import WebhookEndpoint
from accounts.models.webhooks import MAX_URL
from dashboard import versions
from dashboard.forms import Filter
from dashboard.webhooks import actions
from dashboard.webhooks.queries import Owner
from infrastructure import outbound

STATES = [("", "All"), ("delivered", "Delivered"), ("waiting", "Waiting"), ("failed", "Failed")]


WITH_LOOPBACK = "Where your server receives events: https on a public host, or http or https on this machine."


class WebhookForm(forms.Form):
    """`owner`: whose webhook it is, or will be."""

    url = forms.CharField(
        label="Address",
        max_length=MAX_URL,
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
        help_text="Where your server receives events: https, on a public host.",
    )
    events = forms.MultipleChoiceField(
        label="Events",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one event."},
    )

    def __init__(self, *args: Any, owner: Owner, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.WEBHOOKS_TO_LOOPBACK:
            self.fields["url"].help_text = WITH_LOOPBACK
        named = [(event.value, event.label) for event in owner.events]
        choices = [(pair[0], format_html("<span><code>{}</code> {}</span>", *pair)) for pair in named]
        self.fields["events"].choices = choices  # type: ignore[attr-defined]  # a MultipleChoiceField

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        problem = outbound.problem_of(url, allows_loopback=settings.WEBHOOKS_TO_LOOPBACK)
        if problem is not None:
            raise ValidationError(problem)
        return url


class EditWebhookForm(WebhookForm):
    version = versions.VersionField()

    @staticmethod
    def initial_of(endpoint: WebhookEndpoint) -> dict[str, Any]:
        return {"url": endpoint.url, "events": endpoint.events, "version": actions.version_of(endpoint)}


class RotateForm(forms.Form):
    version = versions.VersionField()


class DeliveryFilter(Filter):
    state = forms.ChoiceField(label="Show", choices=STATES, required=False)
