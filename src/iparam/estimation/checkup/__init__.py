"""The checks of a recording before anybody believes what is identified from it: green, amber or red, a line each."""
