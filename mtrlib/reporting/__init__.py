"""What goes out: results with their manifests, comparison, the notebook runner and its proof."""
