"""The documentation under /docs: Markdown pages that people read as HTML, and programs as they are.

A page is one file of pages/. `expansion` puts in what the code itself knows (tables of fields, errors, samples), which
gives the Markdown source; `rendering` makes HTML of that; `personalization` fills in the ids of a signed-in reader.
"""

from dashboard.navigation import Entry

NAVIGATION = (Entry("docs", "Documentation"),)
