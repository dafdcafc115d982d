"""The admin of the image host. What plans allow is set by the user's plan, on the user's page."""

from imagehost.admin.files import FileAdmin
from imagehost.admin.folders import FolderAdmin, FolderRuleAdmin
from imagehost.admin.usage import UsageAdmin

__all__ = ["FileAdmin", "FolderAdmin", "FolderRuleAdmin", "UsageAdmin"]
