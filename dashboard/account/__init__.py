"""The account: names, sessions, data, and its deletion."""

from dashboard.navigation import Entry

NAVIGATION = (
    Entry("account_overview", "Account", below=None),
    Entry("connected_apps", "Connected apps"),
    Entry("socialaccount_connections", "Linked accounts"),
    Entry("mfa_index", "Security"),
    Entry("account_email", "Email"),
    Entry("usersessions_list", "Sessions"),
    Entry("account_data", "Your data"),
)
