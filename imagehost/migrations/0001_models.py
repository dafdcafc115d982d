import accounts.models.users
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.utils.timezone
import infrastructure.databases.folding
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('imagehost', '0001_initial'),
        ('imagehost', '0002_quarantine_moves_objects'),
        ('imagehost', '0003_preview_queue'),
        ('imagehost', '0004_move_quarantined_objects'),
        ('imagehost', '0005_resumable_reconciliation'),
        ('imagehost', '0006_queue_of_previews'),
        ('imagehost', '0007_expiry_of_files'),
        ('imagehost', '0008_albums'),
        ('imagehost', '0009_turns_of_previews'),
        ('imagehost', '0010_folded_names'),
        ('imagehost', '0011_fill_folded_names'),
    ]

    initial = True

    dependencies = [
        ('accounts', '__first__'),
        # Not needed: for each of the toolkit's 22 Django loads all that is related to the user, 2 s in place of 5.
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='Usage',
            fields=[
                ('owner', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='imagehost_usage', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('used_bytes', models.BigIntegerField(default=0)),
            ],
            options={
                'verbose_name_plural': 'usage',
                'constraints': [models.CheckConstraint(condition=models.Q(('used_bytes__gte', 0)), name='imagehost_usage_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Folder',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imagehost_folders', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=32)),
                ('is_public', models.BooleanField(default=False, help_text='Has a page that everybody can open.')),
                ('password_hash', models.CharField(blank=True, editable=False, max_length=128)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'name'), name='imagehost_folder_unique_name', violation_error_message='There is a folder of this name already.'), models.CheckConstraint(condition=models.Q(('name', ''), _negated=True), name='imagehost_folder_has_a_name'), models.CheckConstraint(condition=models.Q(('password_hash', ''), ('is_public', True), _connector='OR'), name='imagehost_folder_password_is_for_public_ones')],
            },
        ),
        migrations.CreateModel(
            name='FolderRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='folder_rules', to=settings.AUTH_USER_MODEL)),
                ('folder', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rules', to='imagehost.folder')),
                ('position', models.PositiveIntegerField(help_text='Rules are tried from the lowest to the highest.')),
                ('kind', models.CharField(choices=[('mime', 'Type'), ('extension', 'Extension'), ('filename', 'File name')], max_length=10)),
                ('pattern', models.CharField(help_text='image/png or image/*, an extension such as gif, or a file name with * and ?.', max_length=100)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'position'), name='imagehost_rule_unique_position'), models.CheckConstraint(condition=models.Q(('kind__in', ['mime', 'extension', 'filename'])), name='imagehost_rule_kind_is_known'), models.CheckConstraint(condition=models.Q(('pattern', ''), _negated=True), name='imagehost_rule_has_a_pattern')],
            },
        ),
        migrations.CreateModel(
            name='File',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('owner', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='files', to=settings.AUTH_USER_MODEL)),
                ('folder', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='files', to='imagehost.folder')),
                ('name', models.CharField(editable=False, max_length=8)),
                ('extension', models.CharField(editable=False, max_length=4)),
                ('mime', models.CharField(editable=False, max_length=16)),
                ('key', models.CharField(editable=False, help_text='Of the object in the storage.', max_length=100)),
                ('moves_from', models.CharField(blank=True, db_default='', default='', editable=False, help_text="The object's key before; empty as soon as the object is at its key.", max_length=100)),
                ('size', models.BigIntegerField(editable=False)),
                ('width', models.PositiveIntegerField(editable=False)),
                ('height', models.PositiveIntegerField(editable=False)),
                ('duration_ms', models.PositiveBigIntegerField(editable=False, null=True)),
                ('frames', models.PositiveIntegerField(editable=False, null=True)),
                ('original_name', models.CharField(editable=False, max_length=255)),
                ('original_name_folded', infrastructure.databases.folding.FoldedField(editable=False, max_length=1000, null=True, of='original_name')),
                ('is_favorite', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('PENDING', 'Pending'), ('READY', 'Ready'), ('DELETED', 'Deleted')], default='PENDING', editable=False, max_length=8)),
                ('uploaded_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('deleted_at', models.DateTimeField(editable=False, null=True)),
                ('quarantined_at', models.DateTimeField(editable=False, null=True)),
                ('expires_at', models.DateTimeField(editable=False, help_text='From then on the file counts as deleted; empty: it does not expire.', null=True)),
                ('deletion_hash', models.CharField(editable=False, help_text="SHA-256 of the deletion link's token.", max_length=64)),
                ('preview_state', models.CharField(choices=[('WAITING', 'Waiting'), ('MADE', 'Made'), ('FAILED', 'Failed')], default='WAITING', editable=False, max_length=8)),
                ('preview_width', models.PositiveIntegerField(editable=False, null=True)),
                ('preview_height', models.PositiveIntegerField(editable=False, null=True)),
                ('preview_attempts', models.PositiveSmallIntegerField(default=0, editable=False)),
                ('preview_due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now, editable=False, help_text='When a worker may make the preview; a worker that does keeps the others off until then.')),
            ],
            options={
                'permissions': [('quarantine_file', 'Can take a file out of delivery and put it back')],
                'indexes': [models.Index(fields=['owner', '-uploaded_at', '-id'], name='imagehost_file_gallery'), models.Index(fields=['folder', '-uploaded_at', '-id'], name='imagehost_file_in_folder'), models.Index(condition=models.Q(('state', 'READY'), _negated=True), fields=['uploaded_at'], name='imagehost_file_unfinished'), models.Index(condition=models.Q(('moves_from', ''), _negated=True), fields=['moves_from'], name='imagehost_file_moving'), models.Index(condition=models.Q(('moves_from', ''), ('preview_state', 'WAITING'), ('quarantined_at__isnull', True), ('state', 'READY')), fields=['preview_due_at', 'id'], name='imagehost_file_preview_next'), models.Index(condition=models.Q(('quarantined_at__isnull', False)), fields=['id'], name='imagehost_file_quarantined'), models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['expires_at'], name='imagehost_file_expiring')],
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Upper('name'), name='imagehost_file_unique_name'), models.UniqueConstraint(fields=('key',), name='imagehost_file_unique_key'), models.CheckConstraint(condition=models.Q(('size__gt', 0)), name='imagehost_file_has_bytes'), models.CheckConstraint(condition=models.Q(('height__gt', 0), ('width__gt', 0)), name='imagehost_file_has_pixels'), models.CheckConstraint(condition=models.Q(('mime__in', ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif', 'video/mp4', 'video/webm', 'video/quicktime'])), name='imagehost_file_mime_is_known'), models.CheckConstraint(condition=models.Q(('state__in', ['PENDING', 'READY', 'DELETED'])), name='imagehost_file_state_is_known'), models.CheckConstraint(condition=models.Q(('owner__isnull', False), ('state', 'DELETED'), _connector='OR'), name='imagehost_file_without_owner_is_deleted'), models.CheckConstraint(condition=models.Q(models.Q(('preview_height__gt', 0), ('preview_state', 'MADE'), ('preview_width__gt', 0)), models.Q(('preview_state', 'MADE'), _negated=True), _connector='OR'), name='imagehost_file_preview_has_a_size')],
            },
        ),
        migrations.CreateModel(
            name='PreviewTurn',
            fields=[
                ('owner', models.OneToOneField(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='preview_turn', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('busy_until', models.DateTimeField()),
                ('spent_until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Album',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('owner', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='imagehost_albums', to=settings.AUTH_USER_MODEL)),
                ('title', models.CharField(max_length=80)),
                ('link', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, unique=True)),
                ('file_ids', models.JSONField(default=list, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('title', ''), _negated=True), name='imagehost_album_has_a_title')],
            },
        ),
        migrations.CreateModel(
            name='Reconciliation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField()),
                ('is_after_restore', models.BooleanField(default=False)),
                ('stage', models.CharField(choices=[('OWNERS', 'Owners'), ('QUARANTINE', 'Quarantine'), ('REMOVAL', 'Removal')], default='OWNERS', max_length=10)),
                ('done_until', models.CharField(blank=True, max_length=32)),
                ('parts', models.PositiveIntegerField(default=0)),
                ('found', models.JSONField(default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='StrayObject',
            fields=[
                ('key', models.CharField(max_length=1024, primary_key=True, serialize=False)),
            ],
        ),
    ]
