"""From an image to Sightings: `image` opens it, `detection` finds and measures objects, `matchers` estimate."""
