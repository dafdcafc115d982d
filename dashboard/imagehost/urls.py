"""The image host: /dashboard/imagehost/…."""

from __future__ import annotations

from django.urls import path

from dashboard.imagehost import album_views, decision_views, folder_views, selection_views, views

urlpatterns = [
    path("", views.gallery, name="imagehost_setup"),
    path("upload/", views.upload, name="imagehost_upload"),
    path("upload/one/", views.upload_one, name="imagehost_upload_one"),
    path("files/selected/", selection_views.selected, name="imagehost_selected"),
    path("files/delete/", selection_views.delete_files, name="imagehost_delete_files"),
    path("files/<str:name>/", views.detail, name="imagehost_file"),
    path("files/<str:name>/favorite/", views.favorite, name="imagehost_favorite"),
    path("folders/", folder_views.folder_list, name="imagehost_folders"),
    path("folders/<str:folder_id>/", views.folder, name="imagehost_folder"),
    path("folders/<str:folder_id>/edit/", folder_views.edit_folder, name="imagehost_edit_folder"),
    path("folders/<str:folder_id>/delete/", folder_views.delete_folder, name="imagehost_delete_folder"),
    path("albums/", album_views.album_list, name="imagehost_albums"),
    path("albums/<str:album_id>/", album_views.edit_album, name="imagehost_album"),
    path("albums/<str:album_id>/files/<str:name>/", album_views.change_file, name="imagehost_album_file"),
    path("albums/<str:album_id>/reset/", album_views.reset_link, name="imagehost_reset_album"),
    path("albums/<str:album_id>/delete/", album_views.delete_album, name="imagehost_delete_album"),
    path("decisions/<int:pk>/", decision_views.decision, name="imagehost_decision"),
    path("rules/", folder_views.rule_list, name="imagehost_rules"),
    path("rules/<int:rule_id>/edit/", folder_views.edit_rule, name="imagehost_edit_rule"),
    path("rules/<int:rule_id>/move/", folder_views.move_rule, name="imagehost_move_rule"),
    path("rules/<int:rule_id>/delete/", folder_views.delete_rule, name="imagehost_delete_rule"),
    path("uploaders/", views.uploader_list, name="imagehost_uploaders"),
    path("uploaders/<str:kind>/", views.download, name="imagehost_uploader"),
]
