"""The URLs of the dashboard, by feature."""

from __future__ import annotations

from django.urls import include, path

from dashboard import home
from dashboard.profile import uploaded
from dashboard.profile import urls as profile_urls  # registers `row_id`
from dashboard.teams import transfer_views

urlpatterns = [
    path("uploads/<path:path>/card.png", uploaded.card),
    path("uploads/<path:path>", uploaded.deliver, name="uploaded_file"),
    path("dashboard/", home.home, name="dashboard"),
    path("dashboard/notices/<int:pk>/dismiss/", home.dismiss_notice, name="dismiss_notice"),
    path("dashboard/apps/<slug:client_id>/webhooks/", include("dashboard.webhooks.urls")),
    path("dashboard/apps/", include("dashboard.client_apps.urls")),
    path("dashboard/apps/<str:client_id>/transfer/", transfer_views.transfer, name="application_transfer"),
    path("dashboard/apps/<str:client_id>/transfer/withdraw/", transfer_views.withdraw_offer, name="withdraw_offer"),
    path("dashboard/teams/", include("dashboard.teams.urls")),
    path("dashboard/api-keys/", include("dashboard.api_keys.urls")),
    path("dashboard/webhooks/", include("dashboard.webhooks.urls")),
    path("dashboard/imagehost/", include("dashboard.imagehost.urls")),
    path("dashboard/profile/", include(profile_urls)),
    path("dashboard/profile/<row_id:profile_id>/", include(profile_urls)),
    path("dashboard/account/", include("dashboard.account.urls")),
    path("dashboard/staff/", include("dashboard.staff.urls")),
    path("", include("dashboard.documentation.urls")),
]
