/// What stand-ins of other libraries ask of that of the driver: found in it by name.
#ifndef PAR_STANDIN_LIBRARY_H
#define PAR_STANDIN_LIBRARY_H

#include <stdint.h>

extern "C" {
/// Bytes that an operation touches.
struct par_standin_range {
  uint64_t address, bytes;
  int32_t writes;
};

/// An operation on a stream. When its turn comes, `compute` is called with where the ranges lie on the host;
/// in a graph again and again. `release` is called when it never is again. The result is a CUresult.
int par_standin_submit(void *stream, const char *name, const struct par_standin_range *ranges, uint32_t count,
                       void (*compute)(void *data, char *const *hosts), void (*release)(void *data),
                       void *data);

/// A finding.
void par_standin_report(const char *line);
}

#endif
