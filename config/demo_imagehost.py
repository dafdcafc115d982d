"""The image host of the demo user ada: three folders, and a rule for each."""

from accounts.models import User
from imagehost.models import Folder, FolderRule, MatchKind

# In the rules' order: what a rule looks at, its pattern, and the folder, with whether everybody may open its page.
RULES = (
    (MatchKind.FILENAME, "*secret*", "Private", False),
    (MatchKind.MIME, "video/*", "Clips", True),
    (MatchKind.EXTENSION, "png", "Screenshots", True),
)


def furnish(ada: User) -> None:
    """Make them, where ada has no folder yet. The caller holds the transaction."""
    if Folder.objects.filter(owner=ada).exists():
        return
    for position, (kind, pattern, name, is_public) in enumerate(RULES):
        folder = Folder.objects.create(owner=ada, name=name, is_public=is_public)
        FolderRule.objects.create(owner=ada, folder=folder, position=position, kind=kind, pattern=pattern)
