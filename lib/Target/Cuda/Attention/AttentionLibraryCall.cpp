//===- AttentionLibraryCall.cpp - attention as an op that a library computes ----------------------===//
#include "AttentionLibraryCall.h"
#include "LibraryAttention.h"
#include "WriteAttention.h"

using namespace mlir;
using namespace mlir::par;

namespace {
class CudaAttention : public LibraryCall {
public:
  SmallVector<int64_t> getScratchBytes(rank::LibraryWorkInterface work) const override {
    auto attention = cast<rank::AttentionOp>(*work);
    SmallVector<int64_t> bytes;
    if (attention.getStructure().getDq())
      bytes.push_back(getAttentionScratchBytes(attention.getStructure()));
    if (int64_t library = getLibraryBytes(attention))
      bytes.push_back(library);
    return bytes;
  }

  FailureOr<func::FuncOp> writeKernel(OpBuilder &builder, rank::LibraryWorkInterface work, StringRef name,
                                      bool isAligned) const override {
    return writeAttention(builder, cast<rank::AttentionOp>(*work), name, isAligned);
  }

  /// Back: gradients of queries, then those of keys.
  int64_t countLaunches(rank::LibraryWorkInterface work) const override {
    return cast<rank::AttentionOp>(*work).getStructure().getDq() ? 2 : 1;
  }

  std::optional<LibraryList> getList() const override {
    return LibraryList{"attentions", "par_attention_call"};
  }
};
} // namespace

std::unique_ptr<LibraryCall> par::createCudaAttention() { return std::make_unique<CudaAttention>(); }
