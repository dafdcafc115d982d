"""Everything that the dashboard serves, area by area."""

from django.urls import include, path, register_converter

from dashboard.views import home, uploaded


class ProfileIdConverter:
    """Of the profile of an alias; the editor's own paths are no such ids."""

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
    path("dashboard/apps/", include("dashboard.urls.applications")),
    path("dashboard/apps/", include("dashboard.urls.debugging")),
    path("dashboard/api-keys/", include("dashboard.urls.api_keys")),
    path("dashboard/imagehost/", include("dashboard.urls.imagehost")),
    path("dashboard/profile/", include("dashboard.urls.profile")),
    path("dashboard/profile/", include("dashboard.urls.profile_content")),
    path("dashboard/profile/<profile_id:profile_id>/", include("dashboard.urls.profile")),
    path("dashboard/profile/<profile_id:profile_id>/", include("dashboard.urls.profile_content")),
    path("dashboard/account/", include("dashboard.urls.account")),
    path("dashboard/staff/", include("dashboard.urls.staff")),
    path("", include("dashboard.urls.docs")),
]
