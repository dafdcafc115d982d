"""Settings of allauth (sign-up, login, second factors, linked accounts) that no environment changes."""

ACCOUNT_ADAPTER = "accounts.signup.AccountAdapter"
ACCOUNT_FORMS = {"login": "accounts.signup.LoginForm"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*"]
ACCOUNT_USERNAME_VALIDATORS = "accounts.signup.username_validators"
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
MFA_ADAPTER = "accounts.second_factor_pages.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_FORMS = {
    "add_webauthn": "accounts.second_factor_pages.AddForm",
    "authenticate_webauthn": "accounts.second_factor_pages.AuthenticateForm",
    "login_webauthn": "accounts.second_factor_pages.LoginForm",
    "reauthenticate_webauthn": "accounts.second_factor_pages.ReauthenticateForm",
}
MFA_TOTP_TOLERANCE = 1
SOCIALACCOUNT_ADAPTER = "accounts.social.SocialAccountAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
USERSESSIONS_TRACK_ACTIVITY = False  # it would write on every request
