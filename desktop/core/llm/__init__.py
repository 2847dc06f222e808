"""Language models: what there is, getting them, and running one."""
