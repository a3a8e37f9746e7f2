"""From a Scene and Sightings to Checks and a grade."""
