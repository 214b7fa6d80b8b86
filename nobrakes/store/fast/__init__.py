"""What is asked all night, read past everything that takes time to import."""
