#ifndef PAR_CORE_ENTRYPOINTS_H
#define PAR_CORE_ENTRYPOINTS_H

namespace par::rt {

/// Programs find the entry points in the executable: naming them here keeps the linker from leaving them out.
void keepEntryPoints();

} // namespace par::rt
#endif
