"""Webhooks of a person and of an app, by the same pages: endpoints, their secrets, and their deliveries."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("webhooks", "Webhooks"),)
