"""The URLs of the dashboard, by feature."""

from __future__ import annotations

from django.urls import include, path, register_converter

from dashboard import home
from dashboard.profile import uploaded


class ProfileIdConverter:
    """The id of an alias's profile, which no path of the editor looks like."""

    regex = "[0-9a-f]{32}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(ProfileIdConverter, "profile_id")

urlpatterns = [
    path("uploads/<path:path>/card.png", uploaded.card),
    path("uploads/<path:path>", uploaded.deliver, name="uploaded_file"),
    path("dashboard/", home.home, name="dashboard"),
    path("dashboard/apps/", include("dashboard.client_apps.urls")),
    path("dashboard/api-keys/", include("dashboard.api_keys.urls")),
    path("dashboard/imagehost/", include("dashboard.imagehost.urls")),
    path("dashboard/profile/", include("dashboard.profile.urls")),
    path("dashboard/profile/<profile_id:profile_id>/", include("dashboard.profile.urls")),
    path("dashboard/account/", include("dashboard.account.urls")),
    path("dashboard/staff/", include("dashboard.staff.urls")),
    path("", include("dashboard.documentation.urls")),
]
