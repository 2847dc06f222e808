"""The main window itself: start-up, menus, notifications, adding files."""
