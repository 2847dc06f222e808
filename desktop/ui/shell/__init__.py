"""The main window itself: start-up, menus and actions, notifications, drag and drop."""
