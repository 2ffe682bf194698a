"""Features that control one run: begin, end, limits, orders of other processes, stuck visits, adaptive cycles."""
