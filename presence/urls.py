"""URLs of live presence."""

from django.urls import URLPattern, re_path

from presence import views

urlpatterns: list[URLPattern] = [
    re_path(r"^api/lookup/presence/(?P<chat_id>[^/]*)$", views.PresenceLookup.as_view()),
    re_path(r"^api/lookup/presence/(?P<chat_id>[^/]*)/events$", views.PresenceEvents.as_view()),
    re_path(r"^presence/card/(?P<name>[A-Za-z0-9._-]{1,32})\Z", views.show_card, name="presence_card"),
]
