"""Who answers a rubric, one file each."""
