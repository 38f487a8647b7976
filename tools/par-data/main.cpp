// par-data: text to files of tokens, and back.
#include "data/Data.h"

int main(int argc, char **argv) { return par::data::parDataMain(argc, argv); }
