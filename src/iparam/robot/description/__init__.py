"""Robot descriptions of any format: one tree of links and joints, and the serial arm that is cut out of it."""
