import time

from django.db import connection

from accounts.management.base import JobCommand


class Command(JobCommand):
    """Takes longer than any test; on PostgreSQL inside one statement."""

    def perform(self) -> str:
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(600)")
        else:
            time.sleep(600)
        return "Hung."
