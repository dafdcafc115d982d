"""Teams: /dashboard/teams/…."""

from __future__ import annotations

from django.urls import path

from dashboard.teams import invitation_views, views

urlpatterns = [
    path("", views.listing, name="teams"),
    path("new/", views.new, name="new_team"),
    path("join/<str:token>/", invitation_views.join, name="join"),
    path("invitations/<int:invitation_id>/", invitation_views.page, name="invitation"),
    path("invitations/<int:invitation_id>/accept/", invitation_views.accept, name="accept_invitation"),
    path("invitations/<int:invitation_id>/decline/", invitation_views.decline, name="decline_invitation"),
    path("<int:team_id>/", views.overview, name="team"),
    path("<int:team_id>/activity/", views.activity, name="team_activity"),
    path("<int:team_id>/rename/", views.rename, name="team_rename"),
    path("<int:team_id>/invite/", views.invite, name="team_invite"),
    path("<int:team_id>/invitations/<int:invitation_id>/withdraw/", views.withdraw, name="team_withdraw"),
    path("<int:team_id>/members/<int:member_id>/role/", views.change_role, name="team_member_role"),
    path("<int:team_id>/members/<int:member_id>/remove/", views.remove, name="team_member_remove"),
    path("<int:team_id>/leave/", views.leave, name="team_leave"),
    path("<int:team_id>/delete/", views.delete, name="team_delete"),
]
