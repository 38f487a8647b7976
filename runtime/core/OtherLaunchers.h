/// Launchers that par cannot follow: their processes must not become runs of their own.
#ifndef PAR_CORE_OTHERLAUNCHERS_H
#define PAR_CORE_OTHERLAUNCHERS_H

#include <string>

namespace par::rt {

/// Why this is one of several processes, where variables say so by which ranks cannot meet; or nothing. It
/// counts where no launcher that par knows has started several. Throws Error for what is no number.
std::string otherLauncherProblem();

} // namespace par::rt
#endif
