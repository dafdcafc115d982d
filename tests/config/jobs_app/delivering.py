"""run_jobs as a process of its own that only delivers webhooks, on the database of the test that starts it.

`python -m tests.config.jobs_app.delivering DATABASE`. Claims end after 5 s and a retry comes after half a second, so
that a test sees within seconds what takes minutes else.
"""

import os
import sys
from datetime import timedelta

import django
from django.conf import settings
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    settings.DATABASES["default"]["NAME"] = sys.argv[1]
    settings.WEBHOOKS_TO_LOOPBACK = True
    django.setup()

    from accounts.webhooks import attempts, claims  # its models need the lines above
    from config import jobs

    claims.CLAIM = timedelta(seconds=5)
    attempts.PAUSES = (timedelta(seconds=0.5),) * len(attempts.PAUSES)
    jobs.SCHEDULE = {}
    execute_from_command_line(["manage.py", "run_jobs", "--previews", "0"])
