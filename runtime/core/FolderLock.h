/// A folder of checkpoints belongs to one run at a time (docs/Running.md, "One run per folder").
#ifndef PAR_CORE_FOLDERLOCK_H
#define PAR_CORE_FOLDERLOCK_H

#include "core/RunIdentity.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace par::rt {

/// The file "run.lock" in the folder: it says who the owner is, the owner holds a lock of the system on it
/// and touches it now and then.
///  - An owner of this machine is dead when the system's lock is free (or, on a file system without such
///    locks, when its process is gone): the folder is taken over at once.
///  - For an owner of another machine that lock proves nothing, as not every file system knows about locks of
///    other machines. It is dead when it has not touched the file for `stale` seconds, by our clock alone.
class FolderLock {
public:
  struct Times {
    double beat = 5, stale = 60; ///< seconds
    double patience = 2;         ///< with an owner that may be dying
  };
  /// Makes the folder if need be, and removes what a dead owner left half written. Throws Error: the folder
  /// is in use, or cannot be written.
  explicit FolderLock(std::string folder) : FolderLock(std::move(folder), Times()) {}
  FolderLock(std::string folder, Times times);
  FolderLock(const FolderLock &) = delete;
  FolderLock &operator=(const FolderLock &) = delete;
  ~FolderLock();

  /// Throws Error when another run has taken the folder over, which it does after a long stop of this one.
  void check() const;
  /// Of the names of this run's temporary folders.
  const std::string &run() const { return own.run; }

private:
  enum class Found { gone, held, refused, taken };
  void makeFolder();
  void removeEmptyFolders();
  void createOwn();
  void take();
  Found examine(std::string &why) const;
  bool livesElsewhere(const RunIdentity &owner) const;
  void cleanUpAfter(const RunIdentity &owner) const;
  void removeUnnamed() const;
  void beat();

  const std::string folder, path;
  const Times times;
  const RunIdentity own;
  std::vector<std::string> made; ///< folders, innermost last
  std::vector<int> madeSlots;    ///< TemporaryNames, while they may be empty
  std::string temporary;         ///< while the file has not got its name
  int descriptor = -1;
  int slot = -1, temporarySlot = -1; ///< of both names (TemporaryNames)
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false;
  std::thread thread;
};

} // namespace par::rt
#endif
