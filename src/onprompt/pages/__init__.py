"""What people look at in a browser: the shared design, the view of a verdict, and the report of runs."""
