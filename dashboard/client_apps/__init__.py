"""Client apps: registration, settings, secret, login test, code samples, usage and request log."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("applications", "Apps"),)
TABS = (
    Entry("application", "Overview", below=None),
    Entry("application_settings", "Settings"),
    Entry("application_try", "Try it"),
    Entry("application_code", "Code"),
    Entry("application_usage", "Usage"),
    Entry("application_log", "Requests"),
    Entry("webhooks", "Webhooks"),
    Entry("application_activity", "Activity"),
)
FOR_DEVELOPERS = ("application_settings", "application_try")  # the tabs that a viewer does not see
