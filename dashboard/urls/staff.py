"""Staff pages: /dashboard/staff/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views.staff import applications, people, queue

urlpatterns = [
    path("", queue.queue, name="staff_queue"),
    path("requests/<int:pk>/<slug:act>/", queue.decide, name="staff_decide"),
    path("apps/", applications.applications, name="staff_applications"),
    path("apps/<slug:client_id>/", applications.application, name="staff_application"),
    path("apps/<slug:client_id>/<slug:act>/", applications.act_on_application, name="staff_act_on_application"),
    path("people/", people.people, name="staff_people"),
    path("people/<slug:pk>/", people.person, name="staff_person"),
    path("people/<slug:pk>/<slug:act>/", people.act_on_person, name="staff_act_on_person"),
    path("people/<slug:pk>/scopes/<slug:scope>/<slug:act>/", people.act_on_scope, name="staff_act_on_scope"),
    path(
        "people/<slug:pk>/keys/<slug:prefix>/<str:permission>/<slug:act>/", people.act_on_key, name="staff_act_on_key"
    ),
]
