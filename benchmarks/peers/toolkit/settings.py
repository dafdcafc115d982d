"""A project that holds nothing but stock django-oauth-toolkit, without middleware and on persistent connections."""

import os

import dj_database_url
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

SECRET_KEY = "a-secret-of-the-benchmark-alone"  # noqa: S105 - it protects nothing
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "oauth2_provider"]
USE_TZ = True
DATABASES = {"default": dict(dj_database_url.parse(os.environ["DATABASE_URL"], conn_max_age=None))}
DATABASES["default"]["OPTIONS"] = {"server_side_binding": True, "prepare_threshold": 1}
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
