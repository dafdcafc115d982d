"""The profile's own fields, settings and media: /dashboard/profile/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views.profile import fields, media, privacy, transfer

urlpatterns = [
    path("", fields.own_fields, name="profile_editor"),
    path("preview/", fields.preview_fields, name="profile_preview"),
    path("appearance/", fields.appearance, name="profile_appearance"),
    path("appearance/preview/", fields.preview_appearance, name="profile_appearance_preview"),
    path("appearance/<slug:key>/reset/", fields.reset_appearance, name="profile_appearance_reset"),
    path("media/", media.files, name="profile_media"),
    path("media/mirror/", media.mirror, name="profile_media_mirror"),
    path("media/<slug:place>/", media.upload, name="profile_media_upload"),
    path("media/<slug:place>/remove/", media.remove, name="profile_media_remove"),
    path("privacy/", privacy.privacy, name="profile_privacy"),
    path("transfer/", transfer.transfer, name="profile_transfer"),
    path("transfer/export/", transfer.export, name="profile_export"),
    path("transfer/check/", transfer.check, name="profile_import_check"),
    path("transfer/import/", transfer.restore, name="profile_import"),
]
