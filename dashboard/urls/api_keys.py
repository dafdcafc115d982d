"""API keys: /dashboard/api-keys/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views import api_key_acts, api_keys

urlpatterns = [
    path("", api_keys.index, name="api_keys"),
    path("new/", api_keys.new, name="api_key_new"),
    path("<slug:prefix>/", api_keys.page, name="api_key"),
    path("<slug:prefix>/edit/", api_keys.edit, name="api_key_edit"),
    path("<slug:prefix>/replace/", api_keys.rotate, name="api_key_rotate"),
    path("<slug:prefix>/ask/", api_keys.ask, name="api_key_ask"),
    path("<slug:prefix>/requests/<int:pk>/withdraw/", api_key_acts.withdraw, name="api_key_withdraw"),
    path("<slug:prefix>/give/<str:permission>/", api_key_acts.give, name="api_key_give"),
    path("<slug:prefix>/take/<str:permission>/", api_key_acts.take, name="api_key_take"),
    path("<slug:prefix>/enable/", api_key_acts.enable, name="api_key_enable"),
    path("<slug:prefix>/disable/", api_key_acts.disable, name="api_key_disable"),
    path("<slug:prefix>/revoke/", api_key_acts.revoke, name="api_key_revoke"),
    path("<slug:prefix>/delete/", api_key_acts.delete, name="api_key_delete"),
]
