"""The environment of a test process. Nothing of the developer's own settings or state reaches a test."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# What config/settings.py and the client of S3 read; a shell that has one of them set must not change what is tested.
NAMES = (
    "AWS_ACCESS_KEY_ID AWS_CA_BUNDLE AWS_CONFIG_FILE AWS_DEFAULT_PROFILE AWS_ENDPOINT_URL AWS_ENDPOINT_URL_S3 "
    "AWS_PROFILE AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SHARED_CREDENTIALS_FILE "
    "ALLOWED_HOSTS BASE_URL CHAT_API_URL CHAT_BOT_TOKEN CHAT_GUILD_ID CHAT_MUSIC_PLAYERS CHAT_OAUTH_AUTHORIZE_URL "
    "CHAT_OAUTH_CLIENT_ID CHAT_OAUTH_CLIENT_SECRET CHAT_PROFILE_HEADER CHAT_PROFILE_URL CHAT_SIMULATOR_PORT "
    "PRESENCE_STREAMS SCROBBLER_API_KEY SCROBBLER_API_URL SCROBBLER_AUTHORIZE_URL SCROBBLER_SECRET "
    "DATABASE_POOL_SIZE DEFAULT_FROM_EMAIL EDGE_CLIENT_ADDRESS_HEADER EMAIL_HOST "
    "EMAIL_HOST_PASSWORD EMAIL_HOST_USER EMAIL_PORT EMAIL_USE_TLS FILES_DIR FILE_DELIVERY HOST IMAGE_CACHE_SECONDS "
    "IMAGE_CDN_URL INCOMING_DIR PORT RATE_LIMITS_ENABLED S3_ACCESS_KEY S3_ADDRESSING_STYLE S3_BUCKET S3_CHECKSUMS "
    "S3_ENDPOINT_URL S3_PUBLIC_URL S3_REGION S3_SECRET_KEY SECRET_KEY SECRET_KEY_FALLBACKS "
    "SIGNING_KEY_ENCRYPTION_KEYS SITE_NAME SLOW_CLIENT_SECONDS SUPPORT_EMAIL UPLOADS_DIR UPLOAD_CDN_URL WEB_THREADS"
).split()

WORKER = os.environ.get("PYTEST_XDIST_WORKER")


def prepare() -> None:
    """Set the environment before Django reads it.

    DATABASE_URL and REDIS_URL decide on the engines: both are set, or neither. The workers of a parallel run share
    VAR_DIR; each has a database of its own.
    """
    for name in NAMES:
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    os.environ["DEMO"] = "1"
    os.environ["SECRET_KEY"] = "a-secret-key-of-the-tests-alone-" * 2
    os.environ["SIGNING_KEY_ENCRYPTION_KEYS"] = "an-encryption-key-of-the-tests-alone"
    if WORKER is None:
        os.environ["VAR_DIR"] = directory = tempfile.mkdtemp(prefix="tests-var-")
        (Path(directory) / "static").mkdir()  # whitenoise warns where it is missing
        atexit.register(shutil.rmtree, directory, ignore_errors=True)


def own_redis(url: str) -> str:
    """The Redis database of this process: each worker of a parallel run has one, so that it may empty it."""
    return f"{url.rpartition('/')[0]}/{WORKER.removeprefix('gw')}" if WORKER and url else url
