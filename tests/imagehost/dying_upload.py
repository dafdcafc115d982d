"""An upload in a process of its own, on the database of the test, that is killed while it writes the object.

`python -m tests.imagehost.dying_upload DATABASE OWNER BUCKET INCOMING MOMENT`: the file `whole` of the incoming
directory is uploaded; MOMENT is `keep` or `after keep`.
"""

import os
import signal
import sys
from pathlib import Path

import django
from django.conf import settings

from tests.support import environment

if __name__ == "__main__":
    environment.prepare()
    database, owner_id, bucket_directory, incoming_directory, moment = sys.argv[1:]
    settings.DATABASES["default"]["NAME"] = database
    settings.IMAGEHOST_INCOMING = Path(incoming_directory)
    settings.STORAGES["imagehost"] = {
        "BACKEND": "tests.imagehost.objects.FaultyStorage",
        "OPTIONS": {"location": bucket_directory},
    }
    django.setup()

    from datetime import UTC, datetime  # these need what stands above

    from django.core.files.storage import storages

    from accounts.plans import ALLOWANCES, Plan
    from imagehost import uploads
    from imagehost.uploads import Incoming

    class Killed:
        """What is "raised" ends the process at once."""

        def __init__(self, *_: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

    storages["imagehost"].faults[moment] = Killed  # type: ignore[attr-defined]  # a FaultyStorage
    path = settings.IMAGEHOST_INCOMING / "whole"
    uploads.store(
        owner_id=owner_id,
        incoming=Incoming(path=path, size=path.stat().st_size, original_name="holiday.png"),
        allowance=ALLOWANCES[Plan.FREE],
        now=datetime(2026, 3, 1, 12, 0, tzinfo=UTC),
    )
