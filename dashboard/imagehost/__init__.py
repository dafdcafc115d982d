"""The image host: files, folders, rules, upload programs."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("imagehost_setup", "Image host"),)
