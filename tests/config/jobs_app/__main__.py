"""run_jobs as a process of its own, on the database of the test that starts it.

`python -m tests.config.jobs_app DATABASE JOB,JOB [ARGUMENT...]`; every job is due each second.
"""

import os
import sys
from datetime import timedelta

import django
from django.conf import settings
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    name, scheduled, *arguments = sys.argv[1:]
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    settings.DATABASES["default"]["NAME"] = name
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "tests.config.jobs_app"]
    django.setup()

    from config import jobs  # its models need the lines above
    from config.management.commands import run_jobs

    if scheduled == "hang":
        run_jobs.PATIENCE = 0.3
    jobs.SCHEDULE = dict.fromkeys(scheduled.split(","), timedelta(seconds=1))
    execute_from_command_line(["manage.py", "run_jobs", *arguments])
