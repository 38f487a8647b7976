// par-run: executes the packages that par-compile writes. A copy named `rank` lies in every package.
#include "core/Job.h"

int main(int argc, char **argv) { return par::rt::parRunMain(argc, argv); }
