"""The authorization request, login and consent, and approvals."""
