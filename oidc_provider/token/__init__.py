"""Codes, tokens and keys: grants, userinfo, introspection, revocation, signing."""
