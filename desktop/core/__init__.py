"""The application without a window: no Qt anywhere below this package."""
