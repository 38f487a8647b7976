# The version of every tool, in this one place: par::getVersion() of par/Version.h.
set(PAR_VERSION 0.1.0)
