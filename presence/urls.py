"""URLs of live presence."""

from django.urls import URLPattern, path, re_path

from accounts.models.names import NAME_REGEX
from presence import views

urlpatterns: list[URLPattern] = [
    path("api/lookup/presence", views.PresencesLookup.as_view()),
    path("api/lookup/presence/events", views.PresenceEventsOfMany.as_view()),
    path("api/lookup/presence/stream-token", views.PresenceStreamToken.as_view()),
    re_path(r"^api/lookup/presence/(?P<chat_id>[^/]*)$", views.PresenceLookup.as_view()),
    re_path(r"^api/lookup/presence/(?P<chat_id>[^/]*)/events$", views.PresenceEvents.as_view()),
    re_path(rf"^presence/card/(?P<name>{NAME_REGEX})\Z", views.show_card, name="presence_card"),
]

# Below the names of profiles, so they come with the pages of these, after all other URLs.
page_patterns = [path("<name:name>/presence.svg", views.show_picture, name="presence_picture")]
