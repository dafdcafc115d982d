"""Teams: members and their roles, invitations by mail, the team's apps."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("teams", "Teams"),)
TABS = (
    Entry("team", "Team", below=None),
    Entry("team_activity", "Activity"),
)
