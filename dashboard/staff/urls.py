"""Staff pages: /dashboard/staff/…."""

from __future__ import annotations

from django.urls import path

from dashboard.staff import views

urlpatterns = [
    path("", views.queue, name="staff_queue"),
    path("second-factor/", views.second_factor_page, name="staff_second_factor"),
    path("requests/<int:pk>/<slug:act>/", views.decide, name="staff_decide"),
    path("apps/", views.applications, name="staff_applications"),
    path("apps/<slug:client_id>/", views.application, name="staff_application"),
    path("apps/<slug:client_id>/<slug:act>/", views.act_on_application, name="staff_act_on_application"),
    path("people/", views.people, name="staff_people"),
    path("people/<slug:pk>/", views.person, name="staff_person"),
    path("people/<slug:pk>/<slug:act>/", views.act_on_person, name="staff_act_on_person"),
    path("people/<slug:pk>/scopes/<slug:scope>/<slug:act>/", views.act_on_scope, name="staff_act_on_scope"),
    path("people/<slug:pk>/keys/<slug:prefix>/<str:permission>/<slug:act>/", views.act_on_key, name="staff_act_on_key"),
]
