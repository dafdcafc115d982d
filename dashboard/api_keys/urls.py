"""API keys: /dashboard/api-keys/…."""

from __future__ import annotations

from django.urls import path

from dashboard.api_keys import views

urlpatterns = [
    path("", views.index, name="api_keys"),
    path("new/", views.new, name="api_key_new"),
    path("<slug:prefix>/", views.page, name="api_key"),
    path("<slug:prefix>/edit/", views.edit, name="api_key_edit"),
    path("<slug:prefix>/replace/", views.rotate, name="api_key_rotate"),
    path("<slug:prefix>/ask/", views.ask, name="api_key_ask"),
    path("<slug:prefix>/requests/<int:pk>/withdraw/", views.withdraw, name="api_key_withdraw"),
    path("<slug:prefix>/give/<str:permission>/", views.give, name="api_key_give"),
    path("<slug:prefix>/take/<str:permission>/", views.take, name="api_key_take"),
    path("<slug:prefix>/enable/", views.enable, name="api_key_enable"),
    path("<slug:prefix>/disable/", views.disable, name="api_key_disable"),
    path("<slug:prefix>/revoke/", views.revoke, name="api_key_revoke"),
    path("<slug:prefix>/delete/", views.delete, name="api_key_delete"),
]
