#include "comm/process/Secret.h"

#include "par/io/Hmac.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace par::comm {

static constexpr size_t leastBytes = 32, mostBytes = 4096;

static std::string reason() { return std::strerror(errno); }

static io::Status checkSecret(const std::string &path, int descriptor) {
  struct stat info;
  if (fstat(descriptor, &info) != 0)
    return io::Status::error(path + ": cannot be read: " + reason());
  if (!S_ISREG(info.st_mode))
    return io::Status::error(path + ": is no regular file, so it cannot be a secret; make one with "
                                    "head -c 32 /dev/urandom > FILE");
  if (info.st_uid != geteuid())
    return io::Status::error(path + ": belongs to user " + std::to_string(info.st_uid) +
                             ", but a secret must be this user's (" + std::to_string(geteuid()) +
                             "); give a file of your own");
  if (info.st_mode & 077)
    return io::Status::error(path + ": others may read or write it, so it is no secret; chmod 600 " + path);
  if (info.st_size < off_t(leastBytes) || info.st_size > off_t(mostBytes))
    return io::Status::error(path + ": has " + std::to_string(info.st_size) + " bytes, but a secret has " +
                             std::to_string(leastBytes) + " to " + std::to_string(mostBytes) +
                             "; make one with head -c 32 /dev/urandom > " + path);
  return {};
}

static io::Status readSecret(const std::string &path, int flags, std::string &key) {
  // Not blocking: a pipe under this name would keep the process for ever.
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
  if (descriptor < 0)
    return io::Status::error(path + ": cannot be read: " + reason());
  io::Status status = checkSecret(path, descriptor);
  char buffer[mostBytes];
  ssize_t got = status.ok() ? read(descriptor, buffer, sizeof(buffer)) : 0;
  close(descriptor);
  if (status.ok() && got < ssize_t(leastBytes))
    return io::Status::error(path + ": cannot be read: it became shorter");
  key.assign(buffer, size_t(got));
  return status;
}

io::Status readSecretFile(const std::string &path, std::string &key) {
  io::Status status = readSecret(path, 0, key);
  return status.ok() ? status : io::Status::error("PAR_SECRET_FILE: " + status.message());
}

/// Whether nobody else can put files there.
static bool isPrivateFolder(const std::string &path) {
  struct stat info;
  return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         !(info.st_mode & 077);
}

static io::Status runtimeFolder(std::string &folder) {
  std::string user = std::to_string(geteuid());
  const char *given = std::getenv("XDG_RUNTIME_DIR"), *temporary = std::getenv("TMPDIR");
  for (const std::string &one : {std::string(given ? given : ""), "/run/user/" + user})
    if (!one.empty() && one[0] == '/' && isPrivateFolder(one)) {
      folder = one;
      return {};
    }
  folder = std::string(temporary && *temporary == '/' ? temporary : "/tmp") + "/par-" + user;
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return io::Status::error(
        folder + ": cannot be made: " + reason() +
        "; a secret of this job has to lie in a folder of this user alone: set XDG_RUNTIME_DIR");
  if (!isPrivateFolder(folder))
    return io::Status::error(
        folder + ": is no folder that only this user can use (mode 0700), so no secret can lie in it; "
                 "remove it, or set XDG_RUNTIME_DIR");
  return {};
}

static io::Status pathOf(const Address &place, std::string &path) {
  PAR_TRY(runtimeFolder(path));
  path += "/par-" + place.text() + "-" + std::to_string(place.port()) + ".secret";
  return {};
}

/// Under a name that nobody can foretell first, so that whoever reads finds the whole secret or the older
/// one.
static bool writeNew(const std::string &path, const std::string &key) {
  int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return false;
  bool written =
      fchmod(descriptor, 0600) == 0 && write(descriptor, key.data(), key.size()) == ssize_t(key.size());
  return close(descriptor) == 0 && written;
}

io::Status PostedSecret::post(const Address &place, std::string &key) {
  std::string wanted;
  PAR_TRY(pathOf(place, wanted));
  key = io::randomBytes(leastBytes);
  std::string temporary = wanted + ".";
  for (char c : io::randomBytes(8))
    temporary += char('a' + (static_cast<unsigned char>(c) & 15));
  if (!writeNew(temporary, key) || rename(temporary.c_str(), wanted.c_str()) != 0) {
    io::Status status = io::Status::error(wanted + ": cannot be written: " + reason());
    unlink(temporary.c_str());
    return status;
  }
  path = wanted;
  return {};
}

PostedSecret::~PostedSecret() {
  if (!path.empty())
    unlink(path.c_str());
}

io::Status readPostedSecret(const Address &place, std::string &key) {
  std::string path;
  PAR_TRY(pathOf(place, path));
  return readSecret(path, O_NOFOLLOW, key);
}

} // namespace par::comm
