"""What was asked, and who may and did what: queries, access, audit log."""
