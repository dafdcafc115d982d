"""The image host: files, folders, rules, upload programs."""

from dashboard.navigation import Entry

NAVIGATION = (Entry("imagehost_setup", "Image host"),)
TABS = (
    Entry("imagehost_setup", "Files", below=None),
    Entry("imagehost_folders", "Folders"),
    Entry("imagehost_albums", "Albums"),
    Entry("imagehost_rules", "Rules"),
    Entry("imagehost_uploaders", "Uploaders"),
)
