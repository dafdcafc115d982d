"""Webhooks: /dashboard/webhooks/… of a person, /dashboard/apps/<client_id>/webhooks/… of an app."""

from __future__ import annotations

from django.urls import path

from dashboard.webhooks import views

urlpatterns = [
    path("", views.listing, name="webhooks"),
    path("new/", views.new, name="webhook_new"),
    path("<int:pk>/", views.page, name="webhook"),
    path("<int:pk>/edit/", views.edit, name="webhook_edit"),
    path("<int:pk>/pause/", views.pause, name="webhook_pause"),
    path("<int:pk>/resume/", views.resume, name="webhook_resume"),
    path("<int:pk>/test/", views.send_test, name="webhook_test"),
    path("<int:pk>/rotate/", views.rotate, name="webhook_rotate"),
    path("<int:pk>/delete/", views.delete, name="webhook_delete"),
    path("<int:pk>/deliveries/", views.deliveries, name="webhook_deliveries"),
    path("<int:pk>/deliveries/<slug:message_id>/", views.delivery, name="webhook_delivery"),
    path("<int:pk>/deliveries/<slug:message_id>/replay/", views.replay, name="webhook_replay"),
]
