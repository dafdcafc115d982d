"""The chat platform as a provider of allauth: Discord's, at the addresses that the settings name."""
