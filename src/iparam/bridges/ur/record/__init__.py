"""From the stream of a controller to a recording that survives what happens on the way."""
