"""Actions of staff on files, folders and albums, on reports about them, and on appeals."""

from __future__ import annotations

from accounts.staff_actions import ConfirmationPage, StaffAction, refused_if, through
from imagehost import moderation
from imagehost.folders import albums
from imagehost.models import State
from imagehost.moderation import KINDS, QUARANTINE
from imagehost.storing import files
from lookup.social import decisions
from lookup.staff_actions import DECIDE
from lookup.staff_actions import REPORT_ACTIONS as REPORT_ACTIONS_OF_PROFILES

OWNER_READS = "The owner reads this by email and on their page. Kept in the audit trail."
_TAKES_DOWN = "Visitors no longer see it: its page answers 451 with the kind of reason. The owner may appeal once."
PRESETS = (
    "It shows private information of another person.",
    "It is sexual or violent content, which the terms exclude.",
    "It is advertising or deceives people.",
)
FILE_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "quarantine",
        "Quarantine",
        "Stops serving the file, its page and its preview. It stays stored and counted, and can be restored. The owner "
        "reads the reason and may appeal once.",
        QUARANTINE,
        through(moderation.take_down, "row"),
        ConfirmationPage(
            "quarantine",
            "Quarantine {}",
            "{} is in quarantine.",
            lambda _: [_TAKES_DOWN, "The file stays stored and counted."],
            refused_if(lambda file: not file.is_delivered, "This file is not served now."),
            hint=OWNER_READS,
            presets=PRESETS,
        ),
    ),
    StaffAction(
        "restore",
        "Restore",
        "The file, its page and its preview are served again. The owner reads the reason.",
        QUARANTINE,
        through(moderation.restore, "row"),
        ConfirmationPage(
            "restore",
            "Restore {}",
            "{} is served again.",
            lambda _: ["The file, its page and its preview are served again. An appeal that waits is granted."],
            refused_if(
                lambda file: file.state != State.READY or file.quarantined_at is None or bool(file.moves_from),
                "This file cannot be restored now.",
            ),
            is_harmless=True,
            hint=OWNER_READS,
        ),
    ),
    StaffAction(
        "delete",
        "Delete",
        "Deletes the file and its preview, and returns its bytes to its owner's quota. This cannot be undone.",
        "imagehost.delete_file",
        through(files.delete, "file"),
        offer=lambda file: file.state == State.READY,
    ),
)


def _on_list(noun: str) -> tuple[StaffAction, ...]:
    """Return the actions that hide an album or a folder from visitors and show it again. `noun`: which of the two."""
    return (
        StaffAction(
            "quarantine",
            "Take down",
            f"Visitors no longer see the {noun}. Its files stay where they are. The owner reads the reason and may "
            "appeal once.",
            QUARANTINE,
            through(moderation.take_down, "row"),
            ConfirmationPage(
                "take-down",
                f"Take down the {noun} {{}}",
                f"The {noun} {{}} is taken down.",
                lambda _: [_TAKES_DOWN, "Its files stay where they are, and the page of each stays open."],
                refused_if(lambda row: row.quarantined_at is not None, f"This {noun} is taken down already."),
                hint=OWNER_READS,
                presets=PRESETS,
            ),
        ),
        StaffAction(
            "restore",
            "Restore",
            f"Visitors see the {noun} again. The owner reads the reason.",
            QUARANTINE,
            through(moderation.restore, "row"),
            ConfirmationPage(
                "restore",
                f"Restore the {noun} {{}}",
                f"The {noun} {{}} is restored.",
                lambda _: [f"The {noun} is as public as its owner has it. An appeal that waits is granted."],
                refused_if(lambda row: row.quarantined_at is None, f"This {noun} is not taken down."),
                is_harmless=True,
                hint=OWNER_READS,
            ),
        ),
    )


FOLDER_ACTIONS = _on_list("folder")
ALBUM_ACTIONS: tuple[StaffAction, ...] = (
    *_on_list("album"),
    StaffAction(
        "delete",
        "Delete",
        "Deletes the album and ends its link. Its files stay stored. This cannot be undone.",
        "imagehost.delete_album",
        through(albums.delete_by_staff, "album"),
    ),
)
REPORT_ACTIONS: tuple[StaffAction, ...] = (
    *REPORT_ACTIONS_OF_PROFILES,
    StaffAction(
        "take_down",
        "Take down and close",
        "Hides the file, album or folder from visitors, for the reason of the report, and closes every open report "
        "about it. The owner reads what you write and may appeal once.",
        DECIDE,
        through(moderation.take_down_and_close, "report"),
        ConfirmationPage(
            "take-down",
            "Take down {}",
            "{} is taken down.",
            lambda report: [
                _TAKES_DOWN,
                f"Every open report about this {report.get_kind_display().lower()} is closed.",
            ],
            refused_if(
                lambda report: report.decided_at is not None or report.kind not in KINDS,
                "This report is decided already, or about a profile or a comment.",
            ),
            hint=OWNER_READS,
            presets=PRESETS,
        ),
        bar=lambda _, by: moderation.bar(by),
    ),
)
_answered = refused_if(lambda decision: not decision.has_open_appeal, "No appeal waits here.")
DECISION_ACTIONS: tuple[StaffAction, ...] = (
    StaffAction(
        "grant",
        "Grant the appeal",
        "Visitors see it again. The owner reads what you write.",
        DECIDE,
        through(moderation.grant, "decision"),
        ConfirmationPage(
            "grant",
            "Grant the appeal: {}",
            "{}: appeal granted.",
            lambda decision: [f"Visitors see the {decision.get_kind_display().lower()} again."],
            _answered,
            is_harmless=True,
            hint=OWNER_READS,
        ),
        bar=lambda decision, by: decisions.bar(decision, by) or moderation.bar(by),
    ),
    StaffAction(
        "refuse",
        "Refuse the appeal",
        "It stays taken down, and the owner cannot appeal again. The owner reads what you write.",
        DECIDE,
        through(decisions.refuse, "decision"),
        ConfirmationPage(
            "refuse",
            "Refuse the appeal: {}",
            "{}: appeal refused.",
            lambda decision: [
                f"The {decision.get_kind_display().lower()} stays taken down, and its owner cannot appeal again."
            ],
            _answered,
            hint=OWNER_READS,
        ),
        bar=decisions.bar,
    ),
    StaffAction(
        "lift",
        "Lift",
        "Visitors see it again. The owner reads what you write.",
        DECIDE,
        through(moderation.lift, "decision"),
        offer=lambda decision: decision.lifted_at is None and not decision.has_open_appeal,
        bar=lambda _, by: moderation.bar(by),
    ),
)
