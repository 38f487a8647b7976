// par-generate: text from a trained model.
#include "generate/Generate.h"

int main(int argc, char **argv) { return par::generating::parGenerateMain(argc, argv); }
