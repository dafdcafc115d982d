"""Settings, all from the environment (docs/configuration.md).

Without DATABASE_URL this is the embedded default: SQLite, one process, state under VAR_DIR. With it, everything that a
production start needs must be set.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django_stubs_ext
from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port

from config import chat, data_stores, env
from config.observability import logs

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.text("VAR_DIR", str(BASE_DIR / "var"))).resolve()
DATABASE_URL = env.database_url("DATABASE_URL")
REDIS_URL = env.text("REDIS_URL", "")
EMBEDDED = not DATABASE_URL
DEMO = env.flag("DEMO", default=EMBEDDED)

# --- Origin -----------------------------------------------------------------------------------------------------------
HOST = env.text("HOST", "127.0.0.1")
PORT = env.integer("PORT", 8000, at_most=65_535)
BASE_URL = env.origin("BASE_URL", f"http://[{HOST}]:{PORT}" if ":" in HOST else f"http://{HOST}:{PORT}")
_base = urlsplit(BASE_URL)
HTTPS = _base.scheme == "https"
# Hosts with their ports, as the Host header has them: `config.web.door`. Django compares the names without ports.
HOSTS = [_base.netloc.lower(), *env.hosts("ALLOWED_HOSTS")]
if EMBEDDED:
    HOSTS += [f"{host}:{PORT}" for host in ("127.0.0.1", "localhost", "[::1]")]
EDGE_CLIENT_ADDRESS_HEADER = env.text("EDGE_CLIENT_ADDRESS_HEADER", "")
WEB_THREADS = env.integer("WEB_THREADS", 40 if EMBEDDED else 4)
SLOW_CLIENT_SECONDS = env.integer("SLOW_CLIENT_SECONDS", 30)  # in the embedded default; elsewhere nginx cuts them off
# What a start of production lets pass although it must not serve strangers (config.serve).
ALLOW_UNSAFE_START = env.some_of(
    "ALLOW_UNSAFE_START", ("demo", "edge", "eviction", "limits", "secrets", "webhooks", "workers")
)
DEBUG = False
ROOT_URLCONF = "config.urls"
SENTRY_DSN = env.text("SENTRY_DSN", "")
if SENTRY_DSN:
    env.require_library("SENTRY_DSN", "sentry_sdk")
LOGGING = logs.options(with_sentry=bool(SENTRY_DSN))
ACCESS_LOG = env.flag("ACCESS_LOG", default=not EMBEDDED)
METRICS_TOKEN = env.text("METRICS_TOKEN", "")  # or several, with commas; without it nothing is written
METRICS_DIR = Path(env.text("METRICS_DIR", str(VAR_DIR / "metrics"))).resolve()  # one for all processes of a host
if METRICS_TOKEN:
    env.count_in(METRICS_DIR)
_otlp = env.base_url("OTEL_EXPORTER_OTLP_ENDPOINT", "")  # OpenTelemetry's variables
TRACES_ENDPOINT = env.base_url("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{_otlp}/v1/traces" if _otlp else "")
if TRACES_ENDPOINT:
    env.require_library("OTEL_EXPORTER_OTLP_ENDPOINT", "opentelemetry.exporter.otlp.proto.http")
TRACES_SERVICE_NAME = env.text("OTEL_SERVICE_NAME", "hearth")
METRICS_PORT = env.integer("METRICS_PORT", 0)  # of run_jobs and gateway workers; 0: they serve no HTTP
METRICS_HOST = env.text("METRICS_HOST", "127.0.0.1")

# --- Secrets ----------------------------------------------------------------------------------------------------------
if EMBEDDED:
    SECRET_KEY = env.text("SECRET_KEY", "") or env.kept_secret("secret_key", VAR_DIR)
    SIGNING_KEY_ENCRYPTION_KEYS = env.words("SIGNING_KEY_ENCRYPTION_KEYS") or [
        env.kept_secret("signing_key_encryption_key", VAR_DIR)
    ]
else:
    SECRET_KEY = env.text("SECRET_KEY")
    SIGNING_KEY_ENCRYPTION_KEYS = env.words("SIGNING_KEY_ENCRYPTION_KEYS") or [env.text("SIGNING_KEY_ENCRYPTION_KEYS")]
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")

# --- Applications -----------------------------------------------------------------------------------------------------
INSTALLED_APPS = [
    "config",
    *(["demo"] if DEMO else []),
    "dashboard",
    "oidc_provider",
    "imagehost",
    "presence",
    "lookup",
    "accounts",
    "config.apps.AdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "rest_framework",
    "drf_spectacular",
    "oauth2_provider",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "config.apps.LinkedAccountsConfig",
    "accounts.chat_provider",
]
MIDDLEWARE = [
    "config.web.middleware.DoorMiddleware",
    "config.web.middleware.ContentMiddleware",
    "config.web.middleware.CompressionMiddleware",
    "config.web.middleware.ApiMiddleware",
    "config.web.middleware.MethodMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.web.middleware.ContentSecurityPolicyMiddleware",
    "config.web.middleware.FormTokenMiddleware",
    "config.web.middleware.LargeBodyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.web.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": ["django.templatetags.static", "config.templatetags.components"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.views.site",
            ],
        },
    }
]
SITE_NAME = env.text("SITE_NAME", "Hearth")
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# --- Data -------------------------------------------------------------------------------------------------------------
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
# Off where a pooler between this service and PostgreSQL cannot carry prepared statements.
DATABASE_PREPARED_STATEMENTS = env.flag("DATABASE_PREPARED_STATEMENTS", default=True)
DATABASE_POOL_SIZE = 0 if EMBEDDED else env.integer("DATABASE_POOL_SIZE", 0)
DATABASE_STATEMENT_SECONDS = env.integer("DATABASE_STATEMENT_SECONDS", 10, at_least=0)  # of web servers; 0: no limit
BACKUP_DATABASE_URL = env.database_url("BACKUP_DATABASE_URL") or DATABASE_URL
DATABASES: dict[str, dict[str, Any]]
if EMBEDDED:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": VAR_DIR / "db.sqlite3",
            "CONN_MAX_AGE": None,
            "TEST": {"NAME": VAR_DIR / "test.sqlite3"},  # a file: concurrent threads do not share a database in memory
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",  # DEFERRED loses half of concurrent writes to "database is locked"
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-8192;",
            },
        }
    }
else:
    DATABASES = {"default": data_stores.address(DATABASE_URL)}
    DATABASES["default"] |= data_stores.postgresql(
        DATABASES["default"]["OPTIONS"],
        pool_size=DATABASE_POOL_SIZE,
        are_prepared=DATABASE_PREPARED_STATEMENTS,
        is_pooled_by_transaction=env.flag("DATABASE_TRANSACTION_POOLING", default=False),
    )
# 1: PostgreSQL and Redis are on a network that no outsider can read or join, so `check --deploy` asks for no TLS.
PRIVATE_NETWORK = env.flag("PRIVATE_NETWORK", default=False)
CACHES = data_stores.caches(REDIS_URL, data_stores.redis_options(), presence_url=env.text("PRESENCE_REDIS_URL", ""))
LIMIT_STORE = f"infrastructure.limits.{'in_redis.RedisLimits' if REDIS_URL else 'in_process.InProcessLimits'}"
SESSION_ENGINE = "accounts.sessions" if REDIS_URL else "django.contrib.sessions.backends.db"
RATE_LIMITS_ENABLED = env.flag("RATE_LIMITS_ENABLED", default=True)
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200

# --- Accounts ---------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "accounts.sign_up.passwords.PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",  # of accounts that come from elsewhere, until they sign in
    "infrastructure.hashing.SecretHasher",  # client secrets: listed, never first
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "accounts.sign_up.passwords.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "dashboard"
ACCOUNT_LOGOUT_REDIRECT_URL = "home"
# Functions of other apps, called with the user inside the transaction of each event, in order (`accounts.hooks`).
RECEIVERS = {
    "user_created": ["lookup.editing.profiles.create_for"],
    "user_banned": [
        "oidc_provider.applications.app_events.note_ban",
        "oidc_provider.revocation.delete_of_user",
        "oidc_provider.logouts.left",
        "lookup.documents.counters.recount_after",
    ],
    "access_ended": ["oidc_provider.revocation.delete_of_user", "oidc_provider.logouts.left"],
    "sessions_ended": ["oidc_provider.logouts.sessions_ended"],
    "ban_lifted": ["lookup.documents.counters.recount_after"],
    "account_linked": ["lookup.documents.documents.mark_stale_of_user"],
    "public_access_changed": ["presence.answer.privacy.note"],
    "claims_changed": ["oidc_provider.applications.app_events.note_changed_claims"],  # called with changes, by user id
    "user_deleted": [
        "oidc_provider.applications.app_events.note_deletion",  # before approvals and apps are deleted
        "oidc_provider.applications.transfers.delete_of_user",
        "oidc_provider.logouts.left",
        "lookup.editing.profiles.lock_of_user",
        "lookup.documents.counters.withdraw",
        "imagehost.storing.files.delete_of_user",
        "lookup.editing.uploads.delete_of_user",
    ],
}
# Tables of counts by day, whose old rows `sweep_assets` deletes.
COUNTED_DAYS = ("lookup.ProfileDay", "lookup.LinkDay", "imagehost.FileDay")
# Draws uploaded pictures for apps that do not import `imagehost`: bytes to a PNG, in the confined prober.
PICTURE_RENDERER = "imagehost.examining.probing.png_of"
# Makes the request of a back-channel logout for `accounts.webhooks`, which delivers it.
LOGOUT_REQUEST = "oidc_provider.token.logout_tokens.request_of"
# Returns the users whom `accounts.webhooks` writes to about a webhook of an app.
APP_OWNERS = "oidc_provider.applications.roles.owners_of"
# Whether webhooks and logouts may go to this machine, also without TLS: on a developer's own.
WEBHOOKS_TO_LOOPBACK = env.flag("WEBHOOKS_TO_LOOPBACK", default=EMBEDDED)

ACCOUNT_ADAPTER = "accounts.sign_up.account_adapter.AccountAdapter"
ACCOUNT_FORMS = {
    "login": "accounts.sign_up.account_adapter.LoginForm",
    "change_password": "accounts.sign_up.account_adapter.ChangePasswordForm",
    "set_password": "accounts.sign_up.account_adapter.SetPasswordForm",
    "reset_password_from_key": "accounts.sign_up.account_adapter.ResetPasswordKeyForm",
}
# Wrong passwords for a name: 5 in five minutes from one network or known device (allauth's `login_failed`), and
# from all other devices together so many that one network, which may make 60 an hour, locks the name only for itself.
ACCOUNT_RATE_LIMITS: dict[str, str] | bool = {"login_failed_anywhere": "300/h/key", "end_new_session": "20/m/ip"}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*"]
ACCOUNT_USERNAME_VALIDATORS = "accounts.sign_up.account_adapter.username_validators"
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_VERIFICATION_BY_CODE_ENABLED = True
# SUPPORTS_CHANGE stays off: its form is missing for an address that has an account, and so gives it away. Ours:
# accounts/sign_up/address_change.py.
ACCOUNT_EMAIL_VERIFICATION_SUPPORTS_RESEND = True
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_SESSION_REMEMBER = True
MFA_ADAPTER = "accounts.second_factor_pages.MFAAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_PASSKEY_SIGNUP_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_FORMS = {
    "add_webauthn": "accounts.second_factor_pages.AddForm",
    "authenticate_webauthn": "accounts.second_factor_pages.AuthenticateForm",
    "login_webauthn": "accounts.second_factor_pages.LoginForm",
    "reauthenticate_webauthn": "accounts.second_factor_pages.ReauthenticateForm",
    "signup_webauthn": "accounts.second_factor_pages.SignupForm",
}
MFA_TOTP_TOLERANCE = 1
SOCIALACCOUNT_ADAPTER = "accounts.linking.social_adapter.SocialAccountAdapter"
SOCIALACCOUNT_STORE_TOKENS = False
USERSESSIONS_ADAPTER = "accounts.credentials.SessionsAdapter"
USERSESSIONS_TRACK_ACTIVITY = False  # it would write on every request
ACCOUNT_EMAIL_SUBJECT_PREFIX = f"{SITE_NAME}: "
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _base.scheme
MFA_TOTP_ISSUER = SITE_NAME
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = not HTTPS  # http is for loopback only
if not RATE_LIMITS_ENABLED:
    ACCOUNT_RATE_LIMITS = False
    MFA_RATE_LIMITS = False
COUNTRY_DATABASE = env.text("COUNTRY_DATABASE", "")  # a file in MaxMind's format; emails about new browsers name it
AUDIT_RETENTION = timedelta(days=env.integer("AUDIT_RETENTION_DAYS", 0, at_least=0, at_most=36_500))  # 0: for ever
STAFF_SECOND_FACTOR = env.flag("STAFF_SECOND_FACTOR", default=not EMBEDDED)
STAFF_SECOND_FACTOR_GRACE = timedelta(days=env.integer("STAFF_SECOND_FACTOR_GRACE_DAYS", 7, at_least=0, at_most=365))

# --- Sign-in provider -------------------------------------------------------------------------------------------------
AUTHORIZATION_REQUEST_LIFETIME = timedelta(minutes=10)
REQUEST_LOG_RETENTION = timedelta(days=env.integer("REQUEST_LOG_RETENTION_DAYS", 7, at_least=1, at_most=365))
DISCOVERY_CACHE_TIME = timedelta(seconds=300)
WRITE_NOTES_IN_BACKGROUND = True  # infrastructure.write_behind; tests write themselves

OAUTH2_PROVIDER_APPLICATION_MODEL = "oidc_provider.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "oidc_provider.Grant"
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "oidc_provider.AccessToken"  # noqa: S105 - a model's name
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "oidc_provider.RefreshToken"  # noqa: S105 - a model's name
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "oidc_provider.IDToken"  # noqa: S105 - a model's name
# Each option has an effect, here or in the toolkit: tests/oidc_provider/test_options.py changes them one by one.
OAUTH2_PROVIDER = {
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 600,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3_600,
    "ID_TOKEN_EXPIRE_SECONDS": 36_000,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 86_400,
    "ROTATE_REFRESH_TOKEN": True,
    "REFRESH_TOKEN_REUSE_PROTECTION": True,  # the reuse of a rotated refresh token revokes its family
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 10,  # after this time: until then it is refused, and nothing more
    "PKCE_REQUIRED": True,
    "CLIENT_SECRET_HASHER": "secret_sha256",
    "SCOPES_BACKEND_CLASS": "oidc_provider.applications.scopes.RegisteredScopes",
    "OAUTH2_VALIDATOR_CLASS": "oidc_provider.authorize.validation.Validator",
    "OAUTH2_SERVER_CLASS": "oidc_provider.authorize.validation.Server",
    "OAUTH2_BACKEND_CLASS": "oidc_provider.authorize.validation.Backend",
    "APPLICATION_ADMIN_CLASS": "oidc_provider.admin.ApplicationAdmin",
    "ACCESS_TOKEN_ADMIN_CLASS": "oidc_provider.admin.AccessTokenAdmin",
    "REFRESH_TOKEN_ADMIN_CLASS": "oidc_provider.admin.RefreshTokenAdmin",
    "GRANT_ADMIN_CLASS": "oidc_provider.admin.HiddenAdmin",
    "ID_TOKEN_ADMIN_CLASS": "oidc_provider.admin.HiddenAdmin",
}
SILENCED_SYSTEM_CHECKS = [
    "auth.W004",  # usernames are unique without regard to case, by a constraint that this check does not know
    "security.W008",  # the edge proxy redirects to https; behind it every request is plain http
    # These concern unused endpoints and columns of the toolkit (docs/decisions/0002-what-the-toolkit-does.md).
    *(f"oauth2_provider.W00{number}" for number in range(1, 7)),
    "oauth2_provider.W008",  # http redirect URLs are only for loopback: oidc_provider.redirects
]

# --- Lookup -----------------------------------------------------------------------------------------------------------
UPLOAD_CDN_URL = env.base_url("UPLOAD_CDN_URL", f"{BASE_URL}/uploads")
ASSET_URL = env.base_url("ASSET_URL", f"{BASE_URL}/static")
CHAT_CDN_URL = env.base_url("CHAT_CDN_URL", "https://cdn.discordapp.com")
VISIT_STORE = f"lookup.visits.{'redis_store.RedisVisits' if REDIS_URL else 'database_store.DatabaseVisits'}"

# --- Live presence ----------------------------------------------------------------------------------------------------
CHAT, SCROBBLER = chat.options(VAR_DIR, has_demo=EMBEDDED and DEMO, web_port=PORT)
# Event streams that one process holds open. Only `config.web.wsgi` would keep a thread for each.
PRESENCE_STREAMS = env.integer("PRESENCE_STREAMS", 500 if EMBEDDED else 0)
PRESENCE_STREAMS_PER_KEY = 5

# --- Image host -------------------------------------------------------------------------------------------------------
IMAGE_CDN_URL = env.base_url("IMAGE_CDN_URL", f"{BASE_URL}/media")
if urlsplit(IMAGE_CDN_URL).netloc != _base.netloc:
    HOSTS.append(urlsplit(IMAGE_CDN_URL).netloc.lower())
ALLOWED_HOSTS = [split_domain_port(host)[0] for host in HOSTS]
FILE_DELIVERY = env.choice("FILE_DELIVERY", "direct", ("direct", "accel", "redirect"))
ACCEL_PREFIX = "/protected/"  # nginx's internal location of the folder
IMAGE_CACHE_SECONDS = env.integer("IMAGE_CACHE_SECONDS", 31_536_000)
IMAGEHOST_INCOMING = Path(env.text("INCOMING_DIR", str(VAR_DIR / "incoming"))).resolve()
MAX_FILES_IN_ARCHIVE = 2_000  # of a folder's ZIP

# --- Pages ------------------------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
FORMAT_MODULE_PATH = ["config"]
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.text("STATIC_ROOT", str(VAR_DIR / "static"))).resolve()
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_MIMETYPES = {".wav": "audio/wav", ".woff": "font/woff"}  # what whitenoise does not know, or by an old name
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
    "imagehost": data_stores.file_storage(
        VAR_DIR / "files", variable="FILES_DIR", is_read_by_group=FILE_DELIVERY == "accel"
    ),
    "uploads": data_stores.file_storage(VAR_DIR / "uploads", variable="UPLOADS_DIR"),
}

# --- Mail -------------------------------------------------------------------------------------------------------------
OPERATOR_EMAILS = env.words("OPERATOR_EMAILS")  # without it, superusers get reports about failing jobs
DEFAULT_FROM_EMAIL = env.text("DEFAULT_FROM_EMAIL", f"no-reply@{_base.hostname}")
SERVER_EMAIL = DEFAULT_FROM_EMAIL
SUPPORT_EMAIL = env.text("SUPPORT_EMAIL", f"support@{_base.hostname}" if HTTPS else "")
SECURITY_CONTACT = env.text("SECURITY_CONTACT", SUPPORT_EMAIL)
TERMS, PRIVACY = env.document("TERMS_DOCUMENT"), env.document("PRIVACY_DOCUMENT")  # pages of the operator
if EMBEDDED:
    EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
else:
    EMAIL_HOST = env.text("EMAIL_HOST", "localhost")
    EMAIL_PORT = env.integer("EMAIL_PORT", 25)
    EMAIL_HOST_USER = env.text("EMAIL_HOST_USER", "")
    EMAIL_HOST_PASSWORD = env.text("EMAIL_HOST_PASSWORD", "")
    EMAIL_USE_TLS = env.flag("EMAIL_USE_TLS", default=False)  # STARTTLS
    EMAIL_USE_SSL = env.flag("EMAIL_USE_SSL", default=False)  # TLS from the first byte on, as on port 465
    if EMAIL_USE_TLS and EMAIL_USE_SSL:
        raise ImproperlyConfigured("Set EMAIL_USE_TLS (port 587) or EMAIL_USE_SSL (port 465), not both.")
    EMAIL_TIMEOUT = 10

# --- Security ---------------------------------------------------------------------------------------------------------
# Browsers take a cookie of this name only over https, from this very host and for all of it: no other host sets it.
COOKIE_PREFIX = "__Host-" if HTTPS else ""
NARROW_COOKIE_PREFIX = "__Secure-" if HTTPS else ""  # of cookies with a path: browsers refuse `__Host-` for them
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
MESSAGE_STORAGE = "config.web.middleware.MessageStorage"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"  # the browser comes back from the app's site in the middle of a sign-in
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
SECURE_SSL_REDIRECT = False  # the edge proxy redirects; behind it every request is plain http
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "config.views.csrf_failure"

REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_SCHEMA_CLASS": "accounts.openapi.ApiSchema",
}
# The names come from accounts/openapi.py.
_SECURITY_SCHEMES = {
    "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "A key with the permission that the endpoint names.",
    },
    "accountKeyQuery": {"type": "apiKey", "in": "query", "name": "key", "description": "An account API key."},
    "accountKeyBearer": {"type": "http", "scheme": "bearer", "description": "An account API key."},
}
SPECTACULAR_SETTINGS = {
    "TITLE": SITE_NAME,
    "DESCRIPTION": "User lookup, leaderboards.",
    "VERSION": "1.0.0",  # of the API, which a release may leave as it is
    "SERVERS": [{"url": BASE_URL}],
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_NO_READ_ONLY_REQUIRED": False,
    "APPEND_COMPONENTS": {"securitySchemes": _SECURITY_SCHEMES},
    "ENUM_NAME_OVERRIDES": {
        "AlignmentEnum": "lookup.shapes.sections.Alignment",
        "WidthEnum": "lookup.models.GalleryItem.Width",
        "MusicKindEnum": "lookup.models.MusicItem.Kind",
    },
}
