/// A checkpoint on disk (docs/Running.md, "Checkpoints"): checkpoint.json and the slices that every rank
/// wrote.
#ifndef PAR_IO_CHECKPOINT_H
#define PAR_IO_CHECKPOINT_H

#include "par/io/Safetensors.h"
#include "par/io/Sha256.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace par::io {

/// How a tensor is cut. Dimensions are those of the file's tensor before its reshape, so that a tensor of one
/// block lies as in Hugging Face's files and every block is a hyper-rectangle.
struct CheckpointTensor {
  Shape shape, block;     ///< block i of a dimension covers block·i … of shape
  Shape fileShape;        ///< shape of the whole tensor in files
  std::vector<int> ranks; ///< per block, row-major: who wrote it; -1 = it holds nothing but padding
  bool optimizer = false; ///< in the file of optimizer state, not of parameters
  std::vector<std::vector<std::string>> hashes; ///< per block: of each of its parts (BlockHash)
};

/// SHA-256 of every so many bytes of a block, so that who reads a part of it need not read all of it.
class BlockHash {
public:
  explicit BlockHash(int64_t partBytes) : partBytes(partBytes), missing(partBytes) {}
  void update(const void *data, size_t bytes);
  /// One hash per part, in order. The object is used up.
  std::vector<std::string> finish();
  static int64_t parts(int64_t bytes, int64_t partBytes) { return (bytes + partBytes - 1) / partBytes; }

private:
  int64_t partBytes, missing; ///< bytes of the current part that are still to come
  Sha256 part;
  std::vector<std::string> done;
};

struct CheckpointInfo {
  int64_t step = 0;    ///< steps done
  int64_t windows = 0; ///< windows of the data used
  uint64_t seed = 0;
  int64_t sequence = 0;
  int ranks = 0;
  std::optional<double> evalLoss;              ///< of the parameters, where they were evaluated
  std::optional<double> learningRate;          ///< of that step; older files do not say
  std::optional<std::set<std::string>> frozen; ///< parameters that are not trained; older files do not say
  std::string optimizer, data, mesh, fingerprint;
  std::string hash;                         ///< of checkpoint.json; toJson computes it
  int64_t partBytes = 16 << 20;             ///< of a block that have a hash of their own
  std::map<std::string, std::string> model; ///< what the model computes: values are texts of JSON
  std::map<std::string, int64_t> files;     ///< name → bytes
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
  /// Reads checkpoint.json, checks its hash and compares the files' lengths with it.
  Status open(const std::string &folder);
  const CheckpointInfo &info() const { return content; }
  const std::string &path() const { return folder; }

  /// Elements of a hyper-rectangle of a tensor in rows: `visit(begin, count, values)` with the index of the
  /// first element. Only the files that hold some of it are opened; every part of a block that is read is
  /// checked against its hash first. Safe from several threads.
  using Row = std::function<void(const Shape &begin, int64_t count, const float *values)>;
  Status read(const std::string &tensor, const CheckpointBlock &wanted, const Row &visit) const;

private:
  using Checked = std::vector<std::atomic<bool>>; ///< per part of a block
  Status openFile(const std::string &name, const SafetensorsReader *&file) const;
  Status readBlock(const std::string &name, const CheckpointTensor &tensor, int64_t number,
                   const CheckpointBlock &wanted, const Row &visit) const;
  Checked &checkedOf(const std::string &tensor, int64_t block, size_t parts) const;
  Status checkParts(const std::string &place, const std::vector<std::string> &hashes, Checked &checked,
                    const unsigned char *bytes, int64_t length, int64_t first, int64_t count) const;

  std::string folder;
  CheckpointInfo content;
  mutable std::mutex mutex;
  mutable std::map<std::string, std::unique_ptr<SafetensorsReader>> files;
  mutable std::map<std::pair<std::string, int64_t>, Checked> checkedBlocks;
};

} // namespace par::io
#endif
