/// What computes the attention of a job on GPUs: its kernels, or cuDNN, on all ranks alike.
#ifndef PAR_CORE_ATTENTIONCHOICE_H
#define PAR_CORE_ATTENTIONCHOICE_H

#include "core/Manifest.h"
#include "core/Options.h"
#include "device/Accelerator.h"

namespace par::rt {

/// "auto", "cudnn" or "generated", as --attention has it.
const char *nameOf(AttentionChoice choice);

/// Throws Error where --attention means nothing to a package.
void checkAttentionFlag(AttentionChoice wanted, const Manifest &manifest);

/// A rank's part in it. Whoever cannot have cuDNN says so, and then nobody has it.
class AttentionVote {
public:
  /// `accelerator`: null on a CPU.
  AttentionVote(const Manifest &manifest, device::Accelerator *accelerator, AttentionChoice wanted);

  /// True where there is something to be agreed on, which is so on all ranks or on none.
  bool isOpen() const { return open; }
  /// Asks the device. 0: this rank can have cuDNN, 1: it cannot.
  int64_t ask();
  /// `most`: the largest answer. Throws Error where cuDNN is wanted and cannot be had.
  void take(int64_t most);
  /// "attention by cuDNN 9.19.0, ...\n"; empty without any attention.
  std::string note() const;

private:
  device::Accelerator *const accelerator;
  const AttentionChoice wanted;
  bool hasAttention = false, open = false, byLibrary = false;
  device::LibraryAttention library;
  std::string problem;
};

} // namespace par::rt
#endif
