"""From an image to Sightings."""
