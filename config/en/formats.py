"""The form of dates and times on pages that name none, such as the admin: as everywhere else on the site."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j F Y"
TIME_FORMAT = "H:i"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j F Y, H:i \\U\\T\\C"
YEAR_MONTH_FORMAT = "F Y"
MONTH_DAY_FORMAT = "j F"
