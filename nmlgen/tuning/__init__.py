"""Tuning: trying layouts on the machine itself, the most promising one first, until no other is worth a run."""
