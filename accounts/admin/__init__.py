"""The admin of accounts. Staff reach it through the account login, second factor included."""

import allauth.account.admin
import allauth.mfa.admin
import allauth.socialaccount.admin
import allauth.usersessions.admin  # noqa: F401 - all four are loaded so that their pages can be taken away below
from allauth.account.decorators import secure_admin_login
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin

from accounts.admin import api_keys, records, users, webhooks

__all__ = ["api_keys", "records", "users", "webhooks"]

# Their pages show secrets (the seed of a second factor, tokens of outside accounts) or write past the audit trail.
for model in (Authenticator, EmailAddress, SocialAccount, SocialApp, SocialToken, UserSession):
    if admin.site.is_registered(model):
        admin.site.unregister(model)

admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # as allauth documents it
