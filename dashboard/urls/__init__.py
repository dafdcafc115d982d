"""Everything that the dashboard serves, area by area."""

from django.urls import include, path

from dashboard.views import home

urlpatterns = [
    path("dashboard/", home.home, name="dashboard"),
    path("dashboard/apps/", include("dashboard.urls.applications")),
    path("dashboard/apps/", include("dashboard.urls.debugging")),
    path("dashboard/api-keys/", include("dashboard.urls.api_keys")),
    path("dashboard/imagehost/", include("dashboard.urls.imagehost")),
    path("dashboard/profile/", include("dashboard.urls.profile")),
    path("dashboard/profile/", include("dashboard.urls.profile_content")),
    path("dashboard/account/", include("dashboard.urls.account")),
    path("dashboard/staff/", include("dashboard.urls.staff")),
    path("docs", include("dashboard.urls.docs")),
]
