"""Charts drawn by the program itself: few marks, no frames."""
