import accounts.models.users
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import infrastructure.databases.folding
import infrastructure.text_rules
import lookup.models.validators
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('lookup', '0001_initial'),
        ('lookup', '0002_profiles_of_users'),
        ('lookup', '0003_visit_batches'),
        ('lookup', '0004_names_and_indexes'),
        ('lookup', '0005_uploads_in_our_store'),
        ('lookup', '0006_plain_texts'),
        ('lookup', '0007_clean_texts'),
        ('lookup', '0008_clean_short_escapes'),
        ('lookup', '0009_document_heads'),
        ('lookup', '0010_hash_indexes_and_digests'),
        ('lookup', '0011_profile_blocks'),
        ('lookup', '0012_reports'),
        ('lookup', '0013_newcomers_of_boards'),
        ('lookup', '0014_display_names_by_prefix'),
        ('lookup', '0015_views_and_clicks_by_day'),
        ('lookup', '0016_folded_display_names'),
        ('lookup', '0017_words_of_colors'),
        ('lookup', '0018_fill_folded_display_names'),
    ]

    initial = True

    dependencies = [
        ('accounts', '__first__'),
        # Not needed: for each of the toolkit's 22 Django loads all that is related to the user, 2 s in place of 5.
        ('oauth2_provider', '0022_refreshtoken_token_family_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='Asset',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to=settings.AUTH_USER_MODEL)),
                ('path', models.CharField(help_text='Under UPLOAD_CDN_URL, without a leading slash.', max_length=400, validators=[django.core.validators.RegexValidator('\\A(?!.*(?:^|/)\\.{1,2}(?:/|\\Z))[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*\\Z', 'Use a relative path of letters, digits and . _ ~ - /')])),
                ('mime', models.CharField(max_length=100, validators=[infrastructure.text_rules.validate_line])),
                ('width', models.PositiveIntegerField(blank=True, null=True)),
                ('height', models.PositiveIntegerField(blank=True, null=True)),
                ('duration', models.FloatField(blank=True, help_text='Seconds.', null=True)),
                ('size', models.PositiveBigIntegerField(blank=True, editable=False, null=True)),
                ('unused_since', models.DateTimeField(blank=True, editable=False, null=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('size__isnull', False)), fields=('path',), name='asset_kept_path_is_unique'), models.CheckConstraint(condition=models.Q(('duration__isnull', True), ('duration__gte', 0), _connector='OR'), name='asset_duration_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Profile',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='profiles', to=settings.AUTH_USER_MODEL)),
                ('is_main', models.BooleanField(default=True, editable=False)),
                ('name', models.CharField(help_text='What its owner calls the profile.', max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('display_name', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('display_name_folded', infrastructure.databases.folding.FoldedField(editable=False, max_length=64, null=True, of='display_name')),
                ('description', models.TextField(blank=True, max_length=2000, validators=[infrastructure.text_rules.validate_text])),
                ('location', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('theme', models.CharField(blank=True, max_length=32, validators=[infrastructure.text_rules.validate_line])),
                ('font', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('font_username', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('sound_effect', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('sound_effect_button', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('avatar', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('banner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('cursor', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('cursor_pointer', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('font_asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('font_username_asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('sound_effect_asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('sound_effect_button_asset', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('metadata_favicon', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('metadata_banner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('display_name_folded__gt', '')), fields=['display_name_folded'], name='profile_display_name_folded', opclasses=['varchar_pattern_ops'])],
                'constraints': [models.UniqueConstraint(condition=models.Q(('is_main', True)), fields=('user',), name='profile_one_main_for_each_user')],
            },
        ),
        migrations.CreateModel(
            name='Alias',
            fields=[
                ('name', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='alias', serialize=False, to='accounts.name')),
                ('redirects', models.BooleanField(default=True)),
                ('profile', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='alias', to='lookup.profile')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'verbose_name_plural': 'aliases',
            },
        ),
        migrations.CreateModel(
            name='Badge',
            fields=[
                ('id', models.SlugField(max_length=32, primary_key=True, serialize=False)),
                ('catalog', models.SlugField(default='standard', max_length=32)),
                ('name', models.CharField(max_length=40, validators=[infrastructure.text_rules.validate_line])),
                ('image', models.CharField(max_length=100, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9_-][A-Za-z0-9._-]*\\Z', 'Use the name of a file.')])),
                ('rule', models.CharField(blank=True, choices=[('VIEWS', 'Profile views'), ('LIKES', 'Likes of the profile'), ('COMMENTS', 'Comments on the profile')], help_text='Empty: given by staff.', max_length=8)),
                ('order', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('rule__in', ['', 'VIEWS', 'LIKES', 'COMMENTS'])), name='badge_rule_is_known')],
            },
        ),
        migrations.CreateModel(
            name='BadgeTier',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('badge', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tiers', to='lookup.badge')),
                ('tier', models.PositiveSmallIntegerField()),
                ('threshold', models.FloatField(default=0)),
                ('title', models.CharField(max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('description', models.CharField(blank=True, max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('color', models.CharField(blank=True, max_length=9, validators=[django.core.validators.RegexValidator('\\A#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})\\Z', 'Use a color such as #1b5e4b.')])),
                ('image', models.CharField(max_length=100, validators=[django.core.validators.RegexValidator('\\A[A-Za-z0-9_-][A-Za-z0-9._-]*\\Z', 'Use the name of a file.')])),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('badge', 'tier'), name='badge_tier_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='ProfileBadge',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='badges', to='lookup.profile')),
                ('badge', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='holders', to='lookup.badge')),
                ('is_enabled', models.BooleanField(default=True)),
                ('selected_tier', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('unlocked_tiers', models.JSONField(blank=True, default=list)),
                ('color', models.CharField(blank=True, max_length=9, validators=[django.core.validators.RegexValidator('\\A#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})\\Z', 'Use a color such as #1b5e4b.')])),
                ('recolor', models.BooleanField(default=False)),
                ('order', models.PositiveIntegerField(default=0)),
                ('obtained_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('profile', 'badge'), name='profile_badge_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='CustomBadge',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='custom_badges', to='lookup.profile')),
                ('name', models.CharField(blank=True, max_length=40, validators=[infrastructure.text_rules.validate_line])),
                ('image', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('icon_svg', models.TextField(blank=True, validators=[lookup.models.validators.validate_svg])),
                ('color', models.CharField(blank=True, max_length=9, validators=[django.core.validators.RegexValidator('\\A#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})\\Z', 'Use a color such as #1b5e4b.')])),
                ('recolor', models.BooleanField(default=False)),
                ('is_enabled', models.BooleanField(default=True)),
                ('order', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('image__isnull', True), ('icon_svg', ''), _connector='OR'), name='custom_badge_image_or_icon_not_both')],
            },
        ),
        migrations.CreateModel(
            name='Widget',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='widgets', to='lookup.profile')),
                ('platform', models.CharField(max_length=32, validators=[infrastructure.text_rules.validate_line])),
                ('type', models.CharField(max_length=32, validators=[infrastructure.text_rules.validate_line])),
                ('identifier', models.CharField(max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('order', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='Audio',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='audios', to='lookup.profile')),
                ('title', models.CharField(max_length=128, validators=[infrastructure.text_rules.validate_line])),
                ('artist', models.CharField(blank=True, max_length=128, validators=[infrastructure.text_rules.validate_line])),
                ('external_url', models.CharField(blank=True, max_length=2000, validators=[infrastructure.text_rules.validate_web_address])),
                ('audio', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='lookup.asset')),
                ('cover', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('order', models.PositiveIntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
            ],
        ),
        migrations.CreateModel(
            name='Background',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='backgrounds', to='lookup.profile')),
                ('title', models.CharField(blank=True, max_length=128, validators=[infrastructure.text_rules.validate_line])),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='lookup.asset')),
                ('order', models.PositiveIntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
            ],
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='lookup.profile')),
                ('title', models.CharField(blank=True, max_length=128, validators=[infrastructure.text_rules.validate_line])),
                ('url', models.CharField(blank=True, help_text='A text entry may have any text here.', max_length=2000, validators=[infrastructure.text_rules.validate_line])),
                ('platform_id', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('platform_type', models.CharField(blank=True, max_length=64, validators=[infrastructure.text_rules.validate_line])),
                ('is_text', models.BooleanField(default=False, help_text='Shown as text to copy, not as a link.')),
                ('recolor', models.BooleanField(default=False)),
                ('color', models.CharField(blank=True, max_length=9, validators=[django.core.validators.RegexValidator('\\A#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})\\Z', 'Use a color such as #1b5e4b.')])),
                ('icon', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('icon_svg', models.TextField(blank=True, validators=[lookup.models.validators.validate_svg])),
                ('order', models.PositiveIntegerField(default=0)),
                ('is_active', models.BooleanField(default=True)),
                ('clicks', models.PositiveBigIntegerField(default=0, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('icon__isnull', True), ('icon_svg', ''), _connector='OR'), name='link_icon_or_svg_not_both')],
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='projects', to='lookup.profile')),
                ('title', models.CharField(max_length=128, validators=[infrastructure.text_rules.validate_line])),
                ('description', models.TextField(blank=True, max_length=2000, validators=[infrastructure.text_rules.validate_text])),
                ('url', models.CharField(blank=True, max_length=2000, validators=[infrastructure.text_rules.validate_web_address])),
                ('tags', models.JSONField(blank=True, default=list, validators=[lookup.models.validators.validate_tags])),
                ('icon', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='lookup.asset')),
                ('order', models.PositiveIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='LeaderboardEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('board', models.CharField(choices=[('views', 'Views'), ('badges', 'Badges'), ('uid', 'Uid')], max_length=8)),
                ('rank', models.PositiveIntegerField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='leaderboard_entries', to=settings.AUTH_USER_MODEL)),
                ('score', models.BigIntegerField()),
                ('change', models.IntegerField(default=0)),
                ('is_new', models.BooleanField(db_default=False, default=False)),
            ],
            options={
                'verbose_name_plural': 'leaderboard entries',
                'constraints': [models.UniqueConstraint(fields=('board', 'rank'), name='leaderboard_rank_is_unique'), models.UniqueConstraint(fields=('board', 'user'), name='leaderboard_user_is_unique'), models.CheckConstraint(condition=models.Q(('board__in', ['views', 'badges', 'uid'])), name='leaderboard_board_is_known')],
            },
        ),
        migrations.CreateModel(
            name='VisitSalt',
            fields=[
                ('day', models.DateField(primary_key=True, serialize=False)),
                ('salt', models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name='Visit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='visits', to=settings.AUTH_USER_MODEL)),
                ('visitor', models.CharField(max_length=64)),
                ('counted_at', models.DateTimeField(db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'visitor'), name='visit_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='VisitBatch',
            fields=[
                ('token', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('folded_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='ProfileDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('profile', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='lookup.profile')),
                ('day', models.DateField(db_index=True)),
                ('host', models.CharField(blank=True, max_length=100)),
                ('views', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('profile', 'day', 'host'), name='profile_day_host_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='LinkDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('link', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='days', to='lookup.link')),
                ('day', models.DateField(db_index=True)),
                ('clicks', models.PositiveIntegerField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('link', 'day'), name='link_day_is_unique')],
            },
        ),
        migrations.CreateModel(
            name='UserDocument',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('uid', models.BigIntegerField(unique=True)),
                ('profile', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='user_document', to='lookup.profile')),
                ('aliases', models.TextField(default='[]')),
                ('views', models.PositiveBigIntegerField(default=0)),
                ('likes', models.PositiveIntegerField(default=0)),
                ('dislikes', models.PositiveIntegerField(default=0)),
                ('comments', models.PositiveIntegerField(default=0)),
                ('badge_count', models.PositiveIntegerField(default=0, help_text='Enabled badges of the main profile.')),
                ('imported_likes', models.PositiveIntegerField(default=0)),
                ('imported_dislikes', models.PositiveIntegerField(default=0)),
                ('imported_comments', models.PositiveIntegerField(default=0)),
                ('unlock_due', models.BooleanField(default=False, help_text='A counter has changed since badges were last unlocked.')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('unlock_due', True)), fields=['user'], name='user_document_unlock_due'), models.Index(models.OrderBy(models.F('views'), descending=True), models.F('uid'), name='user_document_by_views'), models.Index(models.OrderBy(models.F('badge_count'), descending=True), models.F('uid'), name='user_document_by_badges')],
            },
        ),
        migrations.CreateModel(
            name='ProfileDocument',
            fields=[
                ('profile', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='document', serialize=False, to='lookup.profile')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='profile_documents', to=settings.AUTH_USER_MODEL)),
                ('is_main', models.BooleanField(db_default=False, default=False, help_text='Whether its profile is the main one.')),
                ('fingerprint', models.CharField(blank=True, max_length=16)),
                ('user_version', models.BigIntegerField(db_default=-1, default=-1)),
                ('head', models.TextField(db_default='', default='', help_text='`user` of the current form, until the plan ends.')),
                ('lapsed_head', models.TextField(blank=True, db_default='', default='', help_text='The same from then on.')),
                ('plan_ends', models.BigIntegerField(blank=True, help_text='Microseconds since 1970; null: the plan does not end.', null=True)),
                ('avatar_path', models.CharField(blank=True, max_length=400)),
                ('mirrors_chat', models.BooleanField(default=False)),
                ('profile_text', models.TextField(default='{}')),
                ('badges', models.TextField(default='[]')),
                ('widgets', models.TextField(default='[]')),
                ('audios', models.TextField(default='[]')),
                ('backgrounds', models.TextField(default='[]')),
                ('links', models.TextField(default='[]')),
                ('projects', models.TextField(default='[]')),
                ('gallery', models.TextField(default='[]')),
                ('sections', models.TextField(default='[]')),
                ('earlier', models.TextField(default='')),
                ('leaderboard', models.TextField(default='')),
                ('leaderboard_digest', models.CharField(blank=True, db_default='', default='', help_text='Says whether `leaderboard` has changed.', max_length=32)),
            ],
        ),
        migrations.CreateModel(
            name='Section',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sections', to='lookup.profile')),
                ('type', models.CharField(choices=[('ABOUT_ME', 'About me'), ('PROJECTS', 'Projects'), ('CUSTOM_TEXT', 'Text'), ('GALLERY', 'Gallery'), ('AUDIO_PLAYER', 'Audio player'), ('GAMES', 'Games'), ('ANIME', 'Anime'), ('MEDIA', 'Films and series'), ('MUSIC', 'Music')], max_length=16)),
                ('order', models.PositiveIntegerField(default=0)),
                ('title', models.CharField(blank=True, max_length=128, validators=[infrastructure.text_rules.validate_line])),
                ('description', models.TextField(blank=True, max_length=1000, validators=[infrastructure.text_rules.validate_text])),
                ('alignment', models.CharField(choices=[('left', 'Left'), ('center', 'Center'), ('right', 'Right')], default='left', max_length=8)),
                ('is_enabled', models.BooleanField(default=True)),
                ('config', models.JSONField(blank=True, default=dict)),
            ],
        ),
        migrations.CreateModel(
            name='GalleryItem',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('profile', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gallery', to='lookup.profile')),
                ('section', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='items', to='lookup.section')),
                ('asset', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='lookup.asset')),
                ('caption', models.CharField(blank=True, max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('width', models.CharField(choices=[('half', 'Half'), ('full', 'Full'), ('quad', 'Quad')], default='half', max_length=4)),
                ('order', models.PositiveIntegerField(default=0)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('width__in', ['half', 'full', 'quad'])), name='gallery_item_width_is_known')],
            },
        ),
        migrations.CreateModel(
            name='Game',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False, verbose_name='Catalogue id')),
                ('name', models.CharField(max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('image', models.CharField(blank=True, max_length=500, validators=[infrastructure.text_rules.validate_line])),
                ('slug', models.CharField(blank=True, max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('released', models.DateField(blank=True, null=True)),
                ('rating', models.FloatField(blank=True, null=True)),
                ('metacritic', models.IntegerField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Anime',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False, verbose_name='Catalogue id')),
                ('title', models.CharField(max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('image', models.CharField(blank=True, max_length=500, validators=[infrastructure.text_rules.validate_line])),
                ('format', models.CharField(blank=True, max_length=32, validators=[infrastructure.text_rules.validate_line])),
                ('year', models.IntegerField(blank=True, null=True)),
                ('score', models.FloatField(blank=True, null=True)),
            ],
            options={
                'verbose_name_plural': 'anime',
            },
        ),
        migrations.CreateModel(
            name='MediaTitle',
            fields=[
                ('id', models.BigIntegerField(primary_key=True, serialize=False, verbose_name='Catalogue id')),
                ('media_type', models.CharField(max_length=32, validators=[infrastructure.text_rules.validate_line])),
                ('title', models.CharField(max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('image', models.CharField(blank=True, max_length=500, validators=[infrastructure.text_rules.validate_line])),
                ('year', models.IntegerField(blank=True, null=True)),
                ('rating', models.FloatField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='MusicItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('track', 'Track'), ('album', 'Album'), ('artist', 'Artist')], max_length=8)),
                ('music_id', models.CharField(max_length=100, validators=[infrastructure.text_rules.validate_line])),
                ('title', models.CharField(max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('image', models.CharField(blank=True, max_length=500, validators=[infrastructure.text_rules.validate_line])),
                ('artist', models.CharField(blank=True, max_length=255, validators=[infrastructure.text_rules.validate_line])),
                ('album', models.CharField(blank=True, max_length=255, validators=[infrastructure.text_rules.validate_line])),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('kind', 'music_id'), name='music_item_is_unique'), models.CheckConstraint(condition=models.Q(('kind__in', ['track', 'album', 'artist'])), name='music_item_kind_is_known')],
            },
        ),
        migrations.CreateModel(
            name='FeedbackVote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='feedback_votes', to=settings.AUTH_USER_MODEL)),
                ('voter', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='votes_given', to=settings.AUTH_USER_MODEL)),
                ('is_like', models.BooleanField()),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'voter'), name='feedback_vote_is_unique'), models.CheckConstraint(condition=models.Q(('user', models.F('voter')), _negated=True), name='feedback_vote_is_not_ones_own')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.CharField(default=accounts.models.users.new_id, editable=False, max_length=32, primary_key=True, serialize=False)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to=settings.AUTH_USER_MODEL)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments_written', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='replies', to='lookup.comment')),
                ('content', models.TextField(max_length=2000, validators=[infrastructure.text_rules.validate_text])),
                ('is_pinned', models.BooleanField(default=False)),
                ('like_count', models.PositiveIntegerField(default=0, editable=False)),
                ('reply_count', models.PositiveIntegerField(default=0, editable=False)),
                ('imported_like_count', models.PositiveIntegerField(default=0, editable=False)),
                ('imported_reply_count', models.PositiveIntegerField(default=0, editable=False)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
            ],
            options={
                'indexes': [models.Index(models.F('user'), models.OrderBy(models.F('is_pinned'), descending=True), models.OrderBy(models.F('created_at'), descending=True), models.F('id'), condition=models.Q(('parent__isnull', True)), name='comment_in_shown_order')],
                'constraints': [models.CheckConstraint(condition=models.Q(('parent__isnull', True), ('is_pinned', False), _connector='OR'), name='comment_reply_not_pinned')],
            },
        ),
        migrations.CreateModel(
            name='ProfileBlock',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to=settings.AUTH_USER_MODEL)),
                ('blocked', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocked_by', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'blocked'), name='profile_block_is_unique'), models.CheckConstraint(condition=models.Q(('user', models.F('blocked')), _negated=True), name='profile_block_is_of_another_user')],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='reports', to=settings.AUTH_USER_MODEL, verbose_name='owner')),
                ('name', models.CharField(max_length=32)),
                ('comment', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports', to='lookup.comment')),
                ('comment_text', models.TextField(db_default='', default='', max_length=2000, verbose_name='reported text')),
                ('author', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='reports_as_author', to=settings.AUTH_USER_MODEL)),
                ('reporter', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports_made', to=settings.AUTH_USER_MODEL)),
                ('reason', models.CharField(choices=[('SPAM', 'Spam or advertising'), ('HARASSMENT', 'Harassment or hate'), ('SEXUAL', 'Sexual content'), ('IMPERSONATION', 'Pretends to be someone else'), ('PRIVATE', 'Shows private information'), ('ILLEGAL', 'Violence or illegal content'), ('OTHER', 'Something else')], max_length=16)),
                ('text', models.TextField(db_default='', default='', max_length=500, validators=[infrastructure.text_rules.validate_text], verbose_name='details')),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='sent')),
                ('decided_at', models.DateTimeField(null=True)),
                ('decided_by', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports_decided', to=settings.AUTH_USER_MODEL)),
                ('outcome', models.CharField(choices=[('DISMISSED', 'Dismissed'), ('HANDLED', 'Handled'), ('DELETED', 'Comment deleted')], max_length=16, null=True)),
            ],
            options={
                'default_permissions': ('view', 'decide'),
                'indexes': [models.Index(condition=models.Q(('decided_at', None)), fields=['created_at'], name='report_open')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('decided_at', None)), fields=('reporter', 'comment'), name='report_of_comment_is_open_once'), models.UniqueConstraint(condition=models.Q(('comment_text', ''), ('decided_at', None)), fields=('reporter', 'user'), name='report_of_profile_is_open_once')],
            },
        ),
        migrations.CreateModel(
            name='CommentLike',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('comment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='likes', to='lookup.comment')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comment_likes', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('comment', 'user'), name='comment_like_is_unique')],
            },
        ),
    ]
