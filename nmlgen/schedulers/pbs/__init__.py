"""OpenPBS and PBS Pro, as one of the schedulers."""
