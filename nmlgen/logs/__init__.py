"""What runs leave behind, read into tables: ICON's logs with their timer reports, finish.status, Darshan logs."""
