"""Questions with known answers and pages, and the figures that come of asking them."""
