"""What people look at: the board, histories, pictures, readiness."""
