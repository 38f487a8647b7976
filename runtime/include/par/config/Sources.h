/// Which flags of this process a run file has. An error that names one says where it is: the command line
/// does not show it.
#ifndef PAR_CONFIG_SOURCES_H
#define PAR_CONFIG_SOURCES_H

#include <string>

namespace par::config {

/// `flag` with its dashes, `place` as "run.toml:3". To be called before there are threads.
void noteSource(const std::string &flag, const std::string &place);

/// The message, and " (--steps is from run.toml:3)" for every flag that it names and a run file has.
std::string nameSources(const std::string &message);

} // namespace par::config
#endif
