#ifndef PAR_DATA_OUTPUT_H
#define PAR_DATA_OUTPUT_H

#include "par/io/Files.h"

#include <string>
#include <vector>

namespace par::data {

/// What a run writes: a file that appears whole under its name, or standard output.
class Output {
public:
  /// "-" and nothing are standard output.
  static bool isStandard(const std::string &path) { return path.empty() || path == "-"; }

  /// Fails where the file is one of `inputs`, whatever their names.
  io::Status create(const std::string &path, const std::vector<std::string> &inputs);
  io::Status write(const std::string &bytes);
  io::Status commit();
  std::string name() const { return toFile ? file.path() : "standard output"; }

private:
  io::OutputFile file;
  bool toFile = false;
};

} // namespace par::data
#endif
