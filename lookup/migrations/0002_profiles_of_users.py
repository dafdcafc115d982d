"""A profile for every user there is; its documents are rendered at the first lookup."""

import uuid

from django.db import migrations

BATCH = 1000


def create_profiles(apps, schema_editor):
    user_model = apps.get_model("accounts", "User")
    profile_model = apps.get_model("lookup", "Profile")
    profile_document_model = apps.get_model("lookup", "ProfileDocument")
    user_document_model = apps.get_model("lookup", "UserDocument")
    name_model = apps.get_model("accounts", "Name")
    alias_model = apps.get_model("lookup", "Alias")
    batch = []

    def write():
        profiles = [
            profile_model(id=uuid.uuid4().hex, user_id=pk, is_main=True, name=username, created_at=at, updated_at=at)
            for pk, _, username, at in batch
        ]
        profile_model.objects.bulk_create(profiles)
        profile_document_model.objects.bulk_create(
            [profile_document_model(profile_id=profile.id, user_id=profile.user_id) for profile in profiles]
        )
        user_document_model.objects.bulk_create(
            [
                user_document_model(user_id=pk, uid=uid, profile_id=profile.id)
                for (pk, uid, _, _), profile in zip(batch, profiles, strict=True)
            ]
        )
        batch.clear()

    users = user_model.objects.filter(document=None).order_by("uid").values_list("pk", "uid", "username", "created_at")
    for row in list(users):
        batch.append(row)
        if len(batch) == BATCH:
            write()
    write()
    alias_model.objects.bulk_create(
        [alias_model(name_id=pk) for pk in name_model.objects.filter(kind="ALIAS").values_list("pk", flat=True)]
    )


class Migration(migrations.Migration):
    dependencies = [("lookup", "0001_initial"), ("accounts", "0002_public_flags")]

    operations = [migrations.RunPython(create_profiles, migrations.RunPython.noop)]
