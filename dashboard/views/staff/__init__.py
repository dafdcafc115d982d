"""Staff pages. Each is open with certain permissions (`dashboard.staff.rights`); every act has one of its own."""
