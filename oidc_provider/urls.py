"""The sign-in provider's URLs."""

from django.urls import include, path

from oidc_provider import discovery
from oidc_provider.authorize import connected_apps
from oidc_provider.authorize import views as authorize
from oidc_provider.token import views as token

oauth2 = [
    path("authorize", authorize.Authorize.as_view(), name="authorize"),
    path("token", token.Token.as_view(), name="token"),
    path("userinfo", token.UserInfo.as_view(), name="userinfo"),
    path("revoke", token.Revoke.as_view(), name="revoke"),
    path("introspect", token.Introspect.as_view(), name="introspect"),
    path("end-session", authorize.EndSession.as_view(), name="end_session"),
]
urlpatterns = [
    path(".well-known/openid-configuration", discovery.Discovery.as_view(), name="discovery"),
    path(".well-known/oauth-authorization-server", discovery.Discovery.as_view()),
    path("api/auth/jwks", discovery.KeySet.as_view(), name="jwks"),
    path("api/auth/oauth2/", include(oauth2)),
    path("consent/<slug:pending_id>", authorize.consent, name="consent"),
    path("consent/<slug:pending_id>/switch-account", authorize.switch_account, name="switch_account"),
    path("accounts/connected-apps/", connected_apps.connected_apps, name="connected_apps"),
    path("accounts/connected-apps/<slug:client_id>/disconnect/", connected_apps.disconnect, name="disconnect_app"),
    path("apps/<slug:client_id>/logo.png", connected_apps.logo, name="application_logo"),
]
