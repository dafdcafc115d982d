#!/usr/bin/env python
"""Django's command line; `manage.py version` is that of this release."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

import config
from config import serve

if __name__ == "__main__":
    if sys.argv[1:] == ["version"]:  # Django would name its own, as `--version` does
        sys.stdout.write(f"{config.version()}\n")
        sys.exit()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        if not {*sys.argv[1:2]}.isdisjoint(serve.PROGRAMS):
            serve.check_program()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error} docs/configuration.md explains it.\n")
        sys.exit(os.EX_CONFIG)
