"""Demo data for trying the service out: users, files, apps and keys, a simulated chat platform and scrobbler.

Installed in the embedded default, elsewhere by DEMO=1. A production build leaves this folder out: nothing imports it,
but the command of the embedded default where it is installed.
"""
