// par-export: a trained model as a Hugging Face folder.
#include "export/Export.h"

int main(int argc, char **argv) { return par::exporting::parExportMain(argc, argv); }
