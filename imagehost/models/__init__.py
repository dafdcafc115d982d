"""What the image host keeps: files, the folders and rules that sort them, and how much each user stores."""

from imagehost.models.files import File, PreviewState, State
from imagehost.models.folders import Folder, FolderRule, MatchKind
from imagehost.models.usage import Usage

__all__ = ["File", "Folder", "FolderRule", "MatchKind", "PreviewState", "State", "Usage"]
