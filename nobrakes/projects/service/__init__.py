"""What people and chat agents ask of projects."""
