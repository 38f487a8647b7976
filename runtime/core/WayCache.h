/// Which ways to compute products were the quickest, as measured before: a file in the user's cache folder
/// for each GPU, driver and library.
#ifndef PAR_CORE_WAYCACHE_H
#define PAR_CORE_WAYCACHE_H

#include "par/io/Status.h"

#include <map>
#include <string>

namespace par::rt {

/// Ways by products (ProductWork::key).
using Ways = std::map<std::string, int>;

class WayCache {
public:
  /// Of a machine as Accelerator::describeMachine has it.
  explicit WayCache(const std::string &machine);

  /// $XDG_CACHE_HOME/par/products-MACHINE.json, or in ~/.cache; empty where the user has no home.
  const std::string &path() const { return file; }
  /// Nothing where there is no file, or none that says what it should: it is measured anew then.
  Ways read() const;
  /// Adds to what is there now. The file is always whole; of two that write at once one may not be kept.
  io::Status add(const Ways &measured) const;

private:
  const std::string machine, file;
};

} // namespace par::rt
#endif
