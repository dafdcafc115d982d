"""An app of tests with a migration that alters a table of ours."""
