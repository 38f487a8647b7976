#include "core/BestCheckpoint.h"

#include "core/Error.h"
#include "par/io/Checkpoint.h"
#include "par/io/EndingSignals.h"
#include "par/io/Files.h"

#include <filesystem>

namespace par::rt {

namespace fs = std::filesystem;

static std::string linkIn(const std::string &folder) { return folder + "/best"; }

std::string BestCheckpoint::nameIn(const std::string &folder) {
  std::error_code error;
  return fs::read_symlink(linkIn(folder), error).filename().string();
}

void BestCheckpoint::open(const std::string &wanted) {
  folder = wanted;
  std::string link = linkIn(folder);
  std::error_code error;
  fs::file_status status = fs::symlink_status(link, error);
  if (fs::exists(status) && !fs::is_symlink(status))
    throw Error(link + ": is no link, so --keep-best cannot name the best checkpoint by it; move it away, or "
                       "give another --checkpoint");
  io::CheckpointReader reader;
  if (reader.open(link).ok())
    best = reader.info().evalLoss;
}

void BestCheckpoint::set(const std::string &checkpoint, double loss, const std::string &run) {
  std::string link = linkIn(folder), temporary = io::OutputFolder::temporaryName(link, run);
  std::error_code error;
  io::SignalsWait wait; // none comes between the two names
  fs::create_symlink(checkpoint, temporary, error);
  if (!error)
    fs::rename(temporary, link, error);
  if (error)
    throw Error(link + ": cannot be made a link: " + error.message());
  best = loss;
}

} // namespace par::rt
