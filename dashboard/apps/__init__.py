"""Client apps: registration, settings, secret, login test, code samples, usage and request log."""
