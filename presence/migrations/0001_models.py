from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('presence', '0001_initial'),
    ]

    initial = True

    dependencies = [
        ('accounts', '__first__'),
    ]

    operations = [
        migrations.CreateModel(
            name='LastOnline',
            fields=[
                ('chat_id', models.BigIntegerField(help_text="The account's id on the chat platform.", primary_key=True, serialize=False)),
                ('at', models.DateTimeField(help_text='The latest moment at which the member went offline.')),
            ],
            options={
                'verbose_name_plural': 'last online',
            },
        ),
        migrations.CreateModel(
            name='StoreEntry',
            fields=[
                ('cache_key', models.CharField(max_length=255, primary_key=True, serialize=False)),
                ('value', models.TextField()),
                ('expires', models.DateTimeField(db_index=True)),
            ],
            options={
                'verbose_name_plural': 'store entries',
            },
        ),
    ]
