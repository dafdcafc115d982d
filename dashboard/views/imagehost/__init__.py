"""The pages of the image host: files, folders, rules, programs that upload."""
