"""What waits on the desk of staff: reports of a file, a comment and a profile, and an appeal about a file that the
operator took down."""

from __future__ import annotations

from django.utils import timezone

from accounts.models import User
from demo import image_files
from imagehost import moderation
from imagehost.models import File
from lookup.models import Comment, Decision, Report
from lookup.social import decisions, reports

Reason = Report.Reason
REPORTED_FILE = "offline.png"  # of ada
WORDS = "Advertising for a shop. Please keep pictures of goods off this service."
APPEAL = "I painted it myself.\nIt is not for sale."


def furnish(keeper: User, ada: User, ben: User, cleo: User) -> None:
    """Send the reports and the appeal where there are none yet, in the caller's transaction.

    Members of the population own what is taken down: they have no address, so that no letter about it is sent.
    """
    if Report.objects.exists() or Decision.objects.exists():
        return
    _report_file(ada, ben, cleo)
    _report_comment(ada, cleo)
    known = [person.pk for person in (keeper, ada, ben, cleo)]
    members = list(User.objects.filter(is_active=True).exclude(pk__in=known).order_by("uid")[:2])
    if len(members) == 2:
        accused, owner = members
        text = "The picture and the name are those of a singer."
        reports.send(user=accused, name=accused.username, comment=None, reason=Reason.IMPERSONATION, text=text, by=ben)
        _appeal(keeper, owner)


def _report_file(ada: User, ben: User, cleo: User) -> None:
    file = File.objects.delivered().filter(owner=ada, original_name=REPORTED_FILE).first()
    if file is not None:
        moderation.report(row=file, reason=Reason.PRIVATE, text="It shows who is away and since when.", by=cleo)
        moderation.report(row=file, reason=Reason.OTHER, text="I drew this circle. Please ask first.", by=ben)


def _report_comment(ada: User, cleo: User) -> None:
    comments = Comment.objects.filter(user=ada, parent=None).exclude(author__in=[ada, cleo])
    comment = comments.order_by("created_at", "pk").first()
    if comment is not None:
        text = "The same words are on many pages."
        reports.send(user=ada, name=ada.username, comment=comment, reason=Reason.SPAM, text=text, by=cleo)


def _appeal(keeper: User, owner: User) -> None:
    file = image_files.store(owner, image_files.PAINTING, timezone.now())
    moderation.take_down(row=file, by=keeper, reason=WORDS, kind=Reason.SPAM)
    decision = moderation.decision_about(File.objects.get(pk=file.pk))
    if decision is not None:
        decisions.appeal(decision=decision, text=APPEAL, by=owner)
