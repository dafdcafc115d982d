"""The map of URLs."""

from django.contrib import admin
from django.urls import include, path, re_path

from accounts.sign_up.account_adapter import SignupView
from config import oembed, public_pages, views
from config.observability import metrics
from config.operations import readiness
from dashboard.documentation import views as documentation_views
from lookup import urls as lookup_urls
from presence import urls as presence_urls

admin.autodiscover()

urlpatterns = [
    path("", views.home, name="home"),
    path("docs/openapi.json", views.openapi, name="openapi"),
    path("llms.txt", documentation_views.llms_txt, name="llms_txt"),
    path("", include("dashboard.urls")),
    path("terms", public_pages.terms, name="terms"),
    path("privacy", public_pages.privacy, name="privacy"),
    path("status", public_pages.status, name="status"),
    path("robots.txt", public_pages.robots),
    path("sitemap.xml", public_pages.sitemap),
    path(".well-known/security.txt", public_pages.security_txt),
    path(".well-known/change-password", public_pages.change_password),
    path("oembed", oembed.provide, name="oembed"),
    path("healthz", readiness.healthz),
    path("readyz", readiness.readyz),
    path("readyz/host", readiness.host),
    path("metrics", metrics.metrics),
    path("", include("oidc_provider.urls")),
    path("", include("lookup.urls")),
    path("", include("imagehost.urls")),
    path("", include("presence.urls")),
    path("accounts/signup/", SignupView.as_view(), name="account_signup"),
    path("accounts/signup/passkey/", SignupView.as_view(by_passkey=True), name="account_signup_by_passkey"),
    path("accounts/", include("accounts.urls")),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    re_path(r"^[aA][pP][iI](?:/|$)", views.api_not_found),
    path("", include(lookup_urls.page_patterns)),
    path("", include(presence_urls.page_patterns)),
]

handler400 = "config.views.bad_request"
handler403 = "config.views.permission_denied"
handler404 = "config.views.not_found"
handler500 = "config.views.server_error"
