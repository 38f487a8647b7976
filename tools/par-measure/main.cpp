// par-measure: how fast this machine is, for the planner.
#include "measure/Measure.h"

int main(int argc, char **argv) { return par::measure::parMeasureMain(argc, argv); }
