"""Account pages of our own, in place of allauth's and in addition; mounted at /accounts/, before allauth's."""

from allauth.account.views import email
from django.db import transaction
from django.urls import path

from accounts import second_factor_pages, views
from accounts.sign_up import address_change, new_browsers

urlpatterns = [
    path("email/", transaction.atomic(email), name="account_email"),  # a change, its event and its audit row
    path("2fa/totp/deactivate/", second_factor_pages.remove_app, name="mfa_deactivate_totp"),
    path("2fa/webauthn/keys/<int:pk>/remove/", second_factor_pages.remove_key, name="mfa_remove_webauthn"),
    path("2fa/webauthn/signup/", second_factor_pages.sign_up_with_passkey, name="mfa_signup_webauthn"),
    path("password/set/", second_factor_pages.set_password, name="account_set_password"),
    path("new-browser/<str:token>/", new_browsers.end_session, name="end_new_session"),
    path("2fa/webauthn/login/", second_factor_pages.login_with_passkey, name="mfa_login_webauthn"),
    path("confirm-email/change/", address_change.change, name="change_sign_up_address"),
    path("3rdparty/", views.linked_accounts, name="socialaccount_connections"),
    path("3rdparty/scrobbler/link/", views.link_scrobbler, name="scrobbler_link"),
    path("3rdparty/scrobbler/callback/<slug:state>/", views.scrobbler_callback, name="scrobbler_callback"),
    path("3rdparty/<slug:slug>/unlink/", views.unlink, name="unlink_account"),
]
