"""Staff pages: /dashboard/staff/…."""

from __future__ import annotations

from django.urls import path

from dashboard.staff import file_views, report_views, views

urlpatterns = [
    path("", views.desk, name="staff_desk"),
    path("second-factor/", views.second_factor_page, name="staff_second_factor"),
    path("requests/", views.queue, name="staff_queue"),
    path("requests/<int:pk>/<slug:act>/", views.decide, name="staff_decide"),
    path("reports/", report_views.report_list, name="staff_reports"),
    path("reports/<int:pk>/", report_views.report, name="staff_report"),
    path("reports/<int:pk>/profile/", report_views.profile_frame, name="staff_profile_frame"),
    path("reports/<int:pk>/<slug:act>/", report_views.decide, name="staff_decide_report"),
    path("reports/<int:pk>/pictures/<slug:asset_id>/", report_views.remove_picture, name="staff_report_picture"),
    path("appeals/", report_views.appeal_list, name="staff_appeals"),
    path("appeals/<int:pk>/", report_views.appeal, name="staff_appeal"),
    path("appeals/<int:pk>/<slug:act>/", report_views.answer_appeal, name="staff_answer_appeal"),
    path("files/", file_views.file_list, name="staff_files"),
    path("files/<slug:pk>/", file_views.file_page, name="staff_file"),
    path("files/<slug:pk>/picture/", file_views.picture, name="staff_file_picture"),
    path("files/<slug:pk>/preview/", file_views.preview, name="staff_file_preview"),
    path("files/<slug:pk>/folder/<slug:act>/", file_views.act_on_folder, name="staff_act_on_folder"),
    path("files/<slug:pk>/<slug:act>/", file_views.act, name="staff_act_on_file"),
    path("apps/", views.applications, name="staff_applications"),
    path("apps/<slug:client_id>/", views.application, name="staff_application"),
    path("apps/<slug:client_id>/<slug:act>/", views.act_on_application, name="staff_act_on_application"),
    path("people/", views.people, name="staff_people"),
    path("people/<slug:pk>/", views.person, name="staff_person"),
    path("people/<slug:pk>/pictures/<slug:asset_id>/", views.remove_picture, name="staff_person_picture"),
    path("people/<slug:pk>/<slug:act>/", views.act_on_person, name="staff_act_on_person"),
    path("people/<slug:pk>/scopes/<slug:scope>/<slug:act>/", views.act_on_scope, name="staff_act_on_scope"),
    path("people/<slug:pk>/keys/<slug:prefix>/<str:permission>/<slug:act>/", views.act_on_key, name="staff_act_on_key"),
]
