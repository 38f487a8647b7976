/// Files that a command line names: what a tool writes must neither be what it reads, nor be written twice.
#ifndef PAR_CONFIG_FILEUSES_H
#define PAR_CONFIG_FILEUSES_H

#include <filesystem>
#include <string>
#include <vector>

namespace par::config {

/// Absolute and without links, as far as it exists; of "folder/" the folder.
std::filesystem::path resolvePath(const std::string &given);

/// Whether two names are of one file, whatever links lead to it, and though it may not be there yet. Pipes
/// and devices are no such file: nothing in them is overwritten.
bool isSameFile(const std::string &one, const std::string &other);

/// `flag` is what the user wrote before the path: "--report", or "MODEL". Empty paths and "-" are no files.
class FileUses {
public:
  void addRead(const std::string &flag, const std::string &path);
  void addWritten(const std::string &flag, const std::string &path);
  /// "--report x: is also --cluster, which is read; give another name", or nothing. Of a folder that is read,
  /// the files are protected that a Hugging Face folder has.
  std::string findClash() const;

private:
  struct Use {
    std::string flag, path;
  };
  std::vector<Use> read, written;
};

} // namespace par::config
#endif
