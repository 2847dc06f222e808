"""What each mode puts before the model, and what that takes."""
