"""Starts granian where the settings are safe (`config.start`). Takes granian's options:

    python -m config.serve --interface wsgi --workers 2 config.wsgi:application

A worker that does not start makes granian end with exit code 1, and a service manager would restart it for ever.
This command reports problems once, with exit code 78, which `deploy/systemd/` does not restart.
"""

import os
import sys

from django.core.exceptions import ImproperlyConfigured

from config import start


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        start.check_program()
    except ImproperlyConfigured as error:
        sys.stderr.write(f"{error} docs/configuration.md explains it.\n")
        sys.exit(os.EX_CONFIG)
    os.execv(sys.executable, [sys.executable, "-m", "granian", *sys.argv[1:]])  # noqa: S606 - the caller's own options


if __name__ == "__main__":
    main()
