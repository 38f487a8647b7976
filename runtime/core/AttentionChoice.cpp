#include "core/AttentionChoice.h"

#include "core/Devices.h"
#include "core/Error.h"

#include <algorithm>

namespace par::rt {

const char *nameOf(AttentionChoice choice) {
  return choice == AttentionChoice::cudnn       ? "cudnn"
         : choice == AttentionChoice::generated ? "generated"
                                                : "auto";
}

/// Of a program's lists: what a library may compute.
static bool mayBeOfLibrary(const Manifest &manifest) {
  return std::any_of(manifest.programs.begin(), manifest.programs.end(),
                     [](const Program &program) { return !program.device.attentions.empty(); });
}

static bool isAttention(const cuda::KernelWork &kernel) { return kernel.plan.rfind("attention", 0) == 0; }

static bool hasKernels(const Manifest &manifest) {
  return std::any_of(manifest.programs.begin(), manifest.programs.end(), [](const Program &program) {
    return std::any_of(program.device.kernels.begin(), program.device.kernels.end(), isAttention);
  });
}

void checkAttentionFlag(AttentionChoice wanted, const Manifest &manifest) {
  std::string flag = std::string("--attention ") + nameOf(wanted);
  if (!isOnGpu(manifest))
    throw Error(flag + " is for attention on GPUs, but " + manifest.path + " has target cpu; leave it out");
  if (wanted == AttentionChoice::cudnn && !mayBeOfLibrary(manifest))
    throw Error(
        flag + ": " + manifest.path +
        " has no attention that cuDNN computes as par does (par-compile --explain says why); leave it "
        "out");
}

AttentionVote::AttentionVote(const Manifest &manifest, device::Accelerator *accelerator,
                             AttentionChoice wanted)
    : accelerator(accelerator), wanted(wanted) {
  hasAttention = accelerator && hasKernels(manifest);
  open = hasAttention && mayBeOfLibrary(manifest) && wanted != AttentionChoice::generated;
}

int64_t AttentionVote::ask() {
  problem = accelerator->planAttention(library).message();
  return problem.empty() ? 0 : 1;
}

void AttentionVote::take(int64_t most) {
  byLibrary = most == 0;
  if (!byLibrary && problem.empty())
    problem = "another rank cannot";
  if (!byLibrary && wanted == AttentionChoice::cudnn)
    throw Error("--attention cudnn: " + problem);
  accelerator->chooseAttention(byLibrary);
}

std::string AttentionVote::note() const {
  if (!hasAttention)
    return "";
  if (byLibrary)
    return "attention by " + library.name + ", whose gradients are not the same bits each time" +
           (library.origin.empty() ? "" : "; " + library.origin) + "\n";
  return "attention by generated kernels, deterministic" +
         (open ? "; cuDNN is not used: " + problem : std::string()) + "\n";
}

} // namespace par::rt
