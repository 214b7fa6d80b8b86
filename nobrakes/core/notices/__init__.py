"""Notices: what people should learn of wherever they are, and which channels get it when."""
