"""What people see of a verdict."""
