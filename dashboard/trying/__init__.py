"""Try it: the owner of an app runs a real sign-in against a callback of our own, and sees each step.

The app's secret is nowhere needed: where an app's server sends it, the owner's session stands for it.
"""
