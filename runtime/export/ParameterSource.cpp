#include "export/ParameterSource.h"

#include "core/Checkpoint.h"
#include "par/io/OtherWeights.h"
#include "par/io/Weights.h"

#include <algorithm>

namespace par::exporting {

namespace {
/// What --save-params writes, or a Hugging Face folder.
class Safetensors : public ParameterSource {
public:
  io::Status open(const std::string &path, const rt::Manifest &, const std::vector<io::NamedShape> &wanted) {
    PAR_TRY(weights.open(path));
    return weights.match(wanted);
  }
  io::Status read(const io::NamedShape &tensor, std::vector<float> &values) const override {
    values.resize(size_t(io::elementCount(tensor.shape)));
    weights.read(tensor.name, 0, 1, int64_t(values.size()), values.data());
    return {};
  }

private:
  io::Weights weights;
};

/// Blocks of every rank. Their grid lies over the file's tensor before its reshape, which keeps the order of
/// elements.
class Checkpoint : public ParameterSource {
public:
  io::Status open(const std::string &path, const rt::Manifest &manifest,
                  const std::vector<io::NamedShape> &wanted) {
    reader = rt::openParameters(path, manifest);
    for (const io::NamedShape &tensor : wanted) {
      const io::CheckpointTensor &found = reader->info().tensors.at(tensor.name);
      if (found.fileShape != tensor.shape || io::elementCount(found.shape) != io::elementCount(tensor.shape))
        return io::Status::error(path + "/checkpoint.json: tensor \"" + tensor.name + "\" has shape " +
                                 io::toString(found.fileShape) + ", but the package was compiled for " +
                                 io::toString(tensor.shape));
    }
    return {};
  }

  io::Status read(const io::NamedShape &tensor, std::vector<float> &values) const override {
    const io::Shape &shape = reader->info().tensors.at(tensor.name).shape;
    values.assign(size_t(io::elementCount(shape)), 0.0f);
    int64_t done = 0;
    io::CheckpointBlock whole{io::Shape(shape.size(), 0), shape};
    PAR_TRY(reader->read(tensor.name, whole, [&](const io::Shape &begin, int64_t count, const float *row) {
      int64_t at = 0;
      for (size_t d = 0; d < shape.size(); ++d)
        at = at * shape[d] + begin[d];
      std::copy(row, row + count, values.begin() + at);
      done += count;
    }));
    if (done == int64_t(values.size()))
      return {};
    return io::Status::error(reader->path() + "/checkpoint.json: tensor \"" + tensor.name +
                             "\": its blocks have " + std::to_string(done) + " of " +
                             std::to_string(values.size()) +
                             " elements; the checkpoint is damaged, take another one");
  }

private:
  std::unique_ptr<io::CheckpointReader> reader;
};

template <typename Source>
io::Status openAs(const std::string &path, const rt::Manifest &manifest,
                  const std::vector<io::NamedShape> &wanted, std::unique_ptr<ParameterSource> &source) {
  auto opened = std::make_unique<Source>();
  PAR_TRY(opened->open(path, manifest, wanted));
  source = std::move(opened);
  return {};
}
} // namespace

io::Status openParameters(const std::string &path, const rt::Manifest &manifest,
                          const std::vector<io::NamedShape> &wanted,
                          std::unique_ptr<ParameterSource> &source) {
  std::string checkpoint = io::isFolder(path) ? io::findCheckpoint(path) : "";
  if (!checkpoint.empty())
    return openAs<Checkpoint>(checkpoint, manifest, wanted, source);
  if (io::isFolder(path) && !io::isFileOrLink(path + "/model.safetensors") &&
      !io::isFileOrLink(path + "/model.safetensors.index.json") && io::otherWeightsFolder(path).empty())
    return io::Status::error(path +
                             ": holds no complete checkpoint; give what --checkpoint or --save-params wrote");
  return openAs<Safetensors>(path, manifest, wanted, source);
}

} // namespace par::exporting
