"""All that is stored of a source, under its name: what is left over of it, removing it, and giving it another name."""
