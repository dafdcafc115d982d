"""URLs of the image host."""

from django.urls import path

from imagehost.views import api, content, pages, reports

urlpatterns = [
    path("api/imagehost/upload", api.Upload.as_view()),
    path("api/imagehost/gallery", api.Gallery.as_view()),
    path("api/imagehost/folders", api.FolderList.as_view()),
    path("api/imagehost/folders/<str:folder_id>", api.FolderDetail.as_view()),
    path("media/<str:file_name>", content.deliver, name="deliver"),
    path("files/<str:name>", pages.file_page, name="file_page"),
    path("files/<str:name>/preview.webp", pages.file_preview, name="file_preview"),
    path("files/<str:name>/preview.png", pages.file_preview, {"is_png": True}),
    path("files/<str:name>/delete", pages.delete_own_file, name="delete_own_file"),
    path("files/<str:name>/delete/<str:token>", pages.delete_file, name="delete_file"),
    path("files/albums/<str:link>", pages.album_page, name="album_page"),
    path("files/<str:name>/report", reports.report_file, name="report_file"),
    path("files/albums/<str:link>/report", reports.report_album, name="report_album"),
    path("folders/<str:folder_id>", pages.folder_page, name="folder_page"),
    path("folders/<str:folder_id>/report", reports.report_folder, name="report_folder"),
    path("folders/<str:folder_id>/previews/<str:name>.webp", pages.folder_preview, name="folder_preview"),
    path("folders/<str:folder_id>/files.zip", pages.folder_archive, name="folder_archive"),
]
