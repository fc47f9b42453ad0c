"""The steps of a competition: index, predict, compare, select, judge, rank."""
