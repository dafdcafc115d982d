"""A project that holds nothing but stock django-oauth-toolkit, without middleware and on persistent connections."""

import os

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from psycopg import conninfo

SECRET_KEY = "a-secret-of-the-benchmark-alone"  # noqa: S105 - it protects nothing
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "oauth2_provider"]
USE_TZ = True
_parts = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host", "PORT": "port"}
_given = conninfo.conninfo_to_dict(os.environ["DATABASE_URL"])
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": None,
        "OPTIONS": {"server_side_binding": True, "prepare_threshold": 1},
        **{name: _given.get(part, "") for name, part in _parts.items()},
    }
}
_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OAUTH2_PROVIDER = {
    "OIDC_ENABLED": True,
    "OIDC_RSA_PRIVATE_KEY": _KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    "OAUTH2_VALIDATOR_CLASS": "claims.Validator",
    "SCOPES": {name: name for name in ("openid", "identify", "email", "offline_access")},
    "AUTHORIZATION_CODE_EXPIRE_SECONDS": 600,
    "ACCESS_TOKEN_EXPIRE_SECONDS": 3600,
    "REFRESH_TOKEN_EXPIRE_SECONDS": 30 * 86400,
    "ID_TOKEN_EXPIRE_SECONDS": 36000,
    "ROTATE_REFRESH_TOKEN": True,
    "PKCE_REQUIRED": True,
}
