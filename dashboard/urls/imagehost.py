"""The image host: /dashboard/imagehost/…."""

from __future__ import annotations

from django.urls import path

from dashboard.views.imagehost import files, folders, gallery, rules, uploaders, uploading

urlpatterns = [
    path("", gallery.gallery, name="imagehost_setup"),
    path("upload/", uploading.upload, name="imagehost_upload"),
    path("upload/one/", uploading.upload_one, name="imagehost_upload_one"),
    path("files/move/", files.move, name="imagehost_move_files"),
    path("files/choose/", files.choose_to_delete, name="imagehost_choose_files"),
    path("files/delete/", files.delete, name="imagehost_delete_files"),
    path("files/<str:name>/favorite/", files.favorite, name="imagehost_favorite"),
    path("folders/", folders.folder_list, name="imagehost_folders"),
    path("folders/<str:folder_id>/", gallery.folder, name="imagehost_folder"),
    path("folders/<str:folder_id>/edit/", folders.edit, name="imagehost_edit_folder"),
    path("folders/<str:folder_id>/delete/", folders.delete, name="imagehost_delete_folder"),
    path("rules/", rules.rule_list, name="imagehost_rules"),
    path("rules/<int:rule_id>/edit/", rules.edit, name="imagehost_edit_rule"),
    path("rules/<int:rule_id>/move/", rules.move, name="imagehost_move_rule"),
    path("rules/<int:rule_id>/delete/", rules.delete, name="imagehost_delete_rule"),
    path("uploaders/", uploaders.uploader_list, name="imagehost_uploaders"),
    path("uploaders/<str:kind>/", uploaders.download, name="imagehost_uploader"),
]
