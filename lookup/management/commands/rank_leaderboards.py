"""manage.py rank_leaderboards: the job that ranks the three leaderboards."""

from accounts.management.base import JobCommand
from lookup import leaderboards
from lookup.documents import document_checks


class Command(JobCommand):
    help = "Rank the leaderboards anew. Readers see the old snapshot until the new one is whole."

    def perform(self) -> str:
        completed = document_checks.complete_all()
        places = leaderboards.rank()
        leaderboards.render_stale()
        return f"Ranked {places} places." + (f" Completed {completed} users." if completed else "")
