#include "standin/nccl/Split.h"

#include "standin/nccl/Driver.h"
#include "standin/nccl/Processes.h"

#include <algorithm>

namespace par::standin {

using namespace nccl;

Split::Split(std::shared_ptr<Communicator> of, int color, int key, bool stalls)
    : comm(std::move(of)), number(++comm->splits), color(color), stalls(stalls) {
  if (stalls)
    return;
  SharedMember &own = comm->file.member(comm->rank);
  own.parts[number - 1] = {color, key};
  own.splits = number;
}

Split::~Split() { moves(); }

std::string Split::text() const {
  if (stalls)
    return "a split that was asked to stand still";
  std::string ranks;
  for (int member : missing())
    ranks += " " + std::to_string(member);
  return "ncclCommSplit " + std::to_string(number) + " of a communicator of " + std::to_string(comm->size) +
         (ranks.empty() ? "" : ", waits for rank" + ranks);
}

std::vector<int> Split::missing() const {
  std::vector<int> all;
  for (int i = 0; i < comm->size; ++i)
    if (comm->file.member(i).splits < number)
      all.push_back(i);
  return all;
}

void Split::addAwaited(std::set<int> &pids) const {
  for (int member : missing())
    pids.insert(comm->file.member(member).pid);
}

/// Members that have given the communicator back will never come.
bool Split::isGivenUp() const {
  for (int member : missing())
    if (const SharedMember &other = comm->file.member(member); other.leaves) {
      reportNccl(text() + ", which has given its communicator back after " + std::to_string(other.splits) +
                 " splits");
      return true;
    }
  return false;
}

/// Two of a color with one key are as NCCL numbers them, which is nobody's order: splits of other groups.
bool Split::haveKeys() const {
  for (int i = 0; i < comm->size; ++i)
    for (int j = 0; j < i; ++j) {
      PartOfMember one = comm->file.member(j).parts[number - 1],
                   other = comm->file.member(i).parts[number - 1];
      if (one.color == ncclSplitNoColor || one.color != other.color || one.key != other.key)
        continue;
      if (comm->rank == i)
        reportNccl("ncclCommSplit " + std::to_string(number) + " of a communicator of " +
                   std::to_string(comm->size) + ": ranks " + std::to_string(j) + " and " + std::to_string(i) +
                   " both have key " + std::to_string(one.key) + " of color " + std::to_string(one.color) +
                   ": they split in another order");
      return false;
    }
  return true;
}

/// By key: those of the color are numbered anew.
void Split::makePart() {
  std::vector<std::pair<int, int>> members; ///< key and rank
  for (int i = 0; i < comm->size; ++i)
    if (PartOfMember one = comm->file.member(i).parts[number - 1]; one.color == color)
      members.push_back({one.key, i});
  std::sort(members.begin(), members.end());
  auto self = std::find_if(members.begin(), members.end(),
                           [&](const std::pair<int, int> &member) { return member.second == comm->rank; });
  std::string name = comm->name + "-" + std::to_string(number) + "-" + std::to_string(color);
  part = std::make_shared<Communicator>(name, int(members.size()), int(self - members.begin()), comm->device);
}

bool Split::advance() {
  if (stalls)
    return false;
  if (!missing().empty()) {
    if (isGivenUp() || isDeadlock(1))
      comm->error = ncclInvalidUsage;
    return comm->error != ncclSuccess;
  }
  if (!haveKeys())
    comm->error = ncclInvalidUsage;
  else if (color != ncclSplitNoColor)
    makePart();
  if (part && !part->file)
    comm->error = ncclSystemError;
  return true;
}

} // namespace par::standin
