"""The image host: files, folders, rules, upload programs."""
