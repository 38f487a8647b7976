#include "par/Version.h"

const char *par::getVersion() { return PAR_VERSION; }
