"""The owner of an app runs a real sign-in against a built-in callback, and sees each step.

The app's secret is not needed: where an app's server sends it, the owner's session takes its place.
"""

from __future__ import annotations
