"""Account pages of our own, in place of allauth's and beside them; mounted at /accounts/, before allauth's."""

from django.urls import path

from accounts.views import linked_accounts, scrobbler

urlpatterns = [
    path("3rdparty/", linked_accounts.linked_accounts, name="socialaccount_connections"),
    path("3rdparty/scrobbler/link/", scrobbler.link, name="scrobbler_link"),
    path("3rdparty/scrobbler/callback/<slug:state>/", scrobbler.callback, name="scrobbler_callback"),
    path("3rdparty/<slug:slug>/unlink/", linked_accounts.unlink, name="unlink_account"),
]
