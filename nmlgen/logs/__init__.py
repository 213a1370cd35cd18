"""What runs leave behind, read into tables: Darshan logs, what a batch script notes, what a model's logs say."""
