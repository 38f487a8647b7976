/// A checkpoint on disk (docs/Running.md, "Checkpoints"): checkpoint.json and the slices that every rank
/// wrote.
#ifndef PAR_IO_CHECKPOINT_H
#define PAR_IO_CHECKPOINT_H

#include "par/io/Safetensors.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace par::io {

/// How a tensor is cut. Dimensions are those of the file's tensor before its reshape, so that a tensor of one
/// block lies as in Hugging Face's files and every block is a hyper-rectangle.
struct CheckpointTensor {
  Shape shape, block;     ///< block i of a dimension covers block·i … of shape
  Shape fileShape;        ///< shape of the whole tensor in files
  std::vector<int> ranks; ///< per block, row-major: who wrote it; -1 = it holds nothing but padding
  bool optimizer = false; ///< in the file of optimizer state, not of parameters
};

struct CheckpointInfo {
  int64_t step = 0;    ///< steps done
  int64_t windows = 0; ///< windows of the data used
  uint64_t seed = 0;
  int64_t sequence = 0;
  int ranks = 0;
  std::string modelType, optimizer, data, mesh, fingerprint;
  std::map<std::string, int64_t> files; ///< name → bytes
  std::map<std::string, CheckpointTensor> tensors;
};

std::string toJson(const CheckpointInfo &info);
/// "model-00001-of-00004.safetensors", "optimizer-…"
std::string checkpointFile(bool optimizer, int rank, int ranks);
/// "step-00000100"
std::string checkpointFolder(int64_t step);

/// A block's place in its tensor.
struct CheckpointBlock {
  Shape begin, size;
};
CheckpointBlock blockOf(const CheckpointTensor &tensor, int64_t number);

/// The complete checkpoints in a folder, by step.
std::map<int64_t, std::string> listCheckpoints(const std::string &folder);

/// `path` itself when it is a checkpoint, else the latest one in it; empty when there is none.
std::string findCheckpoint(const std::string &path);

class CheckpointReader {
public:
  /// Reads checkpoint.json and compares the files' lengths with it.
  Status open(const std::string &folder);
  const CheckpointInfo &info() const { return content; }
  const std::string &path() const { return folder; }

  /// Elements of a hyper-rectangle of a tensor in rows: `visit(begin, count, values)` with the index of the
  /// first element. Only the files that hold some of it are opened. Safe from several threads.
  using Row = std::function<void(const Shape &begin, int64_t count, const float *values)>;
  Status read(const std::string &tensor, const CheckpointBlock &wanted, const Row &visit) const;

private:
  Status openFile(const std::string &name, const SafetensorsReader *&file) const;
  Status readBlock(const std::string &name, const CheckpointTensor &tensor, int64_t number,
                   const CheckpointBlock &wanted, const Row &visit) const;

  std::string folder;
  CheckpointInfo content;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::unique_ptr<SafetensorsReader>> files;
};

} // namespace par::io
#endif
