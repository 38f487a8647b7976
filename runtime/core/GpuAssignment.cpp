#include "core/GpuAssignment.h"

#include <set>

namespace par::rt {

std::vector<int> assignGpus(const std::vector<Introduction> &all) {
  std::set<std::pair<std::string, std::string>> taken; // machine and id
  std::vector<int> numbers;
  for (const Introduction &one : all) {
    int number = -1;
    for (size_t i = 0; i < one.gpus.size() && number < 0; ++i)
      if (taken.insert({one.machine, one.gpus[i]}).second)
        number = int(i);
    numbers.push_back(number);
  }
  return numbers;
}

std::string gpuProblem(const std::vector<Introduction> &all, const std::vector<int> &gpus,
                       const std::string &package) {
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (gpus[rank] >= 0)
      continue;
    std::set<std::string> there;
    for (const Introduction &one : all)
      if (one.machine == all[rank].machine)
        there.insert(one.gpus.begin(), one.gpus.end());
    return package + "/manifest.json: has target cuda and needs a GPU for each rank, but " +
           nameOf(all, rank) +
           " finds none that is free: " + std::to_string(neighbours(all, all[rank]).onMachine) +
           " ranks run there, on " + std::to_string(there.size()) + (there.size() == 1 ? " GPU" : " GPUs") +
           "; start fewer ranks there, see CUDA_VISIBLE_DEVICES, or run without a launcher";
  }
  return "";
}

} // namespace par::rt
