"""URLs of live presence."""

from django.urls import URLPattern, re_path

from presence.views import card, current, events

urlpatterns: list[URLPattern] = [
    re_path(r"^api/lookup/presence/(?P<chat_id>[^/]*)$", current.PresenceLookup.as_view()),
    re_path(r"^api/lookup/presence/(?P<chat_id>[^/]*)/events$", events.PresenceEvents.as_view()),
    re_path(r"^presence/card/(?P<name>[A-Za-z0-9._-]{1,32})\Z", card.show, name="presence_card"),
]
