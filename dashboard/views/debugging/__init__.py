"""The pages that help to debug an app."""
