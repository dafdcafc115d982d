"""API keys."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("api_keys", "API keys"),)
