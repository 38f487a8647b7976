#include "core/FolderLock.h"

#include "core/Console.h"
#include "core/Error.h"
#include "par/io/Descriptor.h"
#include "par/io/EndingSignals.h"
#include "par/io/Files.h"
#include "par/io/TemporaryNames.h"
#include "par/io/Threads.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace par::rt {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

static std::string reason() { return std::strerror(errno); }

namespace {
/// Links are not followed: a lock is a file of its folder.
constexpr int lockFlags = O_RDWR | O_NOFOLLOW;
enum class SystemLock { taken, held, unsupported };
} // namespace

static SystemLock lockFile(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return SystemLock::taken;
  return errno == EWOULDBLOCK ? SystemLock::held : SystemLock::unsupported;
}

/// Whether the name still is this file's.
static bool isAt(const std::string &path, int descriptor) {
  struct stat there, here;
  return lstat(path.c_str(), &there) == 0 && fstat(descriptor, &here) == 0 && there.st_dev == here.st_dev &&
         there.st_ino == here.st_ino;
}

static std::string contentOf(int descriptor) {
  char text[1024];
  ssize_t length = pread(descriptor, text, sizeof(text), 0);
  return std::string(text, length > 0 ? size_t(length) : 0);
}

FolderLock::FolderLock(std::string name, Times times)
    : folder(std::move(name)), path(folder + "/run.lock"), times(times), own(RunIdentity::own()) {
  makeFolder();
  try {
    createOwn();
    take();
    thread = io::startThread("the thread that keeps " + path, [this] { beat(); });
  } catch (...) {
    io::removeTemporary(temporarySlot);
    io::removeTemporary(slot);
    if (descriptor >= 0)
      ::close(descriptor);
    removeEmptyFolders();
    throw;
  }
}

FolderLock::~FolderLock() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    finished = true;
  }
  changed.notify_all();
  thread.join();
  io::removeTemporary(slot); // while the system's lock is held: who waits for it then finds the name gone
  ::close(descriptor);
  removeEmptyFolders();
}

void FolderLock::makeFolder() {
  std::error_code error;
  std::vector<std::string> missing;
  for (fs::path at = fs::path(folder).lexically_normal(); !at.empty() && !fs::exists(at, error);
       at = at.parent_path()) {
    missing.push_back(at.string());
    if (at == at.parent_path())
      break;
  }
  {
    io::SignalsWait wait;
    fs::create_directories(folder, error);
    for (auto at = missing.rbegin(); at != missing.rend(); ++at)
      madeSlots.push_back(io::registerTemporaryEmptyFolder(*at));
  }
  if (!io::isFolder(folder) || access(folder.c_str(), W_OK) != 0)
    throw Error(folder + ": checkpoints cannot be written: " + (error ? error.message() : reason()) +
                "; give another --checkpoint");
  made.assign(missing.rbegin(), missing.rend());
}

/// A run that saved nothing leaves nothing behind.
void FolderLock::removeEmptyFolders() {
  while (!made.empty() && rmdir(made.back().c_str()) == 0)
    made.pop_back();
  for (int of : madeSlots)
    io::releaseTemporary(of);
  madeSlots.clear();
}

/// The file under a temporary name, locked and complete: nobody ever sees a lock without its owner.
void FolderLock::createOwn() {
  temporary = path + "." + own.run + ".tmp";
  io::SignalsWait wait; // none comes between the file and what removes it
  descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (descriptor < 0)
    throw Error(folder + ": checkpoints cannot be written: " + reason() + "; give another --checkpoint");
  temporarySlot = io::registerTemporary(temporary, descriptor);
  slot = io::registerTemporary(path, descriptor); // only the file's own name is ever removed
  lockFile(descriptor);
  std::string text = own.text();
  if (::write(descriptor, text.data(), text.size()) != ssize_t(text.size()) || slot < 0 || temporarySlot < 0)
    throw Error(temporary + ": cannot be written: " +
                (slot < 0 || temporarySlot < 0 ? "the path is too long" : reason()));
}

/// Gives the file its name, if nobody has it. Never replaces, on network file systems as well.
static bool placeNew(const std::string &temporary, const std::string &path) {
  if (link(temporary.c_str(), path.c_str()) == 0) {
    unlink(temporary.c_str());
    return true;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) // a file system without links
    return false;
  return renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) == 0;
}

/// What is found may be given back or taken over by others meanwhile, or its owner be dying: so it is looked
/// at for a while.
void FolderLock::take() {
  std::string why;
  Found found = Found::gone;
  for (auto end = Clock::now() + std::chrono::duration<double>(times.patience); found != Found::taken;) {
    if (placeNew(temporary, path))
      break;
    if (errno != EEXIST)
      throw Error(path + ": cannot be written: " + reason() + "; give another --checkpoint");
    found = examine(why);
    if (found == Found::refused || (found == Found::held && Clock::now() > end))
      throw Error(folder + ": " + why);
    if (found != Found::taken)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  io::releaseTemporary(std::exchange(temporarySlot, -1));
  removeUnnamed();
}

/// Files of runs that were killed before theirs had its name. Who waits for this lock holds the system's on
/// its own, and who has not got that far has written nothing yet.
void FolderLock::removeUnnamed() const {
  std::string begin = "run.lock.", end = ".tmp";
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.size() < begin.size() + end.size() || name.rfind(begin, 0) != 0 ||
        name.compare(name.size() - end.size(), end.size(), end) != 0)
      continue;
    io::Descriptor file(entry.path().string(), lockFlags);
    RunIdentity owner;
    if (file.number >= 0 && RunIdentity::read(contentOf(file.number), owner) && owner.isOnThisMachine() &&
        lockFile(file.number) == SystemLock::taken) // last: who has only begun is about to take it
      fs::remove(entry.path(), error);
  }
}

/// What to do about a lock that is there.
FolderLock::Found FolderLock::examine(std::string &why) const {
  io::Descriptor file(path, lockFlags);
  if (file.number < 0 && errno == ENOENT)
    return Found::gone;
  RunIdentity owner;
  if (file.number < 0 || !RunIdentity::read(contentOf(file.number), owner)) {
    why = "run.lock is no lock of par" + (file.number < 0 ? ": " + reason() : std::string()) +
          "; remove it, or give another --checkpoint";
    return Found::refused;
  }
  why = "is in use by " + owner.describe() + "; wait for its end, or give another --checkpoint";
  SystemLock lock = lockFile(file.number);
  if (lock == SystemLock::held)
    return Found::held;
  if (!isAt(path, file.number))
    return Found::gone;
  bool here = owner.isOnThisMachine();
  if (here ? lock == SystemLock::unsupported && owner.isAlive() : livesElsewhere(owner))
    return Found::refused;
  if (!isAt(path, file.number))
    return Found::gone;
  cleanUpAfter(owner); // before its name is forgotten
  // The old file is locked until the new one has the name: of two that take over at once one waits.
  if (rename(temporary.c_str(), path.c_str()) != 0)
    throw Error(path + ": cannot be written: " + reason() + "; give another --checkpoint");
  if (!here) { // where that lock may mean nothing the last one wins
    std::this_thread::sleep_for(std::chrono::duration<double>(times.beat));
    check();
  }
  return Found::taken;
}

/// The file is opened anew every time, as network file systems ask the server then.
bool FolderLock::livesElsewhere(const RunIdentity &owner) const {
  auto touched = [&] {
    struct stat info;
    io::Descriptor file(path, lockFlags);
    return file.number >= 0 && fstat(file.number, &info) == 0
               ? std::make_pair(int64_t(info.st_mtim.tv_sec), int64_t(info.st_mtim.tv_nsec))
               : std::make_pair(int64_t(-1), int64_t(-1));
  };
  auto before = touched();
  auto end = Clock::now() + std::chrono::duration<double>(times.stale);
  print("checkpoints " + folder + ": belong to " + owner.describe() + "; waiting up to " +
        std::to_string(int(times.stale)) + " s for a sign of life\n");
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::duration<double>(times.beat / 2));
    if (touched() != before)
      return true;
  }
  return false;
}

void FolderLock::cleanUpAfter(const RunIdentity &owner) const {
  std::string end = "." + owner.run + ".tmp";
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.rfind("step-", 0) == 0 && name.size() > end.size() &&
        name.compare(name.size() - end.size(), end.size(), end) == 0)
      fs::remove_all(entry.path(), error);
  }
}

void FolderLock::beat() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, std::chrono::duration<double>(times.beat), [&] { return finished; }))
    futimens(descriptor, nullptr);
}

void FolderLock::check() const {
  if (!isAt(path, descriptor))
    throw Error(folder +
                ": was taken over by another run, as this one stood still for long; nothing is saved "
                "there any more");
}

} // namespace par::rt
