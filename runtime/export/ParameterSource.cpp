#include "export/ParameterSource.h"

#include "core/Checkpoint.h"
#include "par/io/OtherWeights.h"
#include "par/io/Weights.h"

#include <map>

namespace par::exporting {

namespace {
/// What --save-params writes, or a Hugging Face folder.
class Safetensors : public ParameterSource {
public:
  io::Status open(const std::string &path, const rt::Manifest &, const rt::ParameterFiles &wanted) {
    PAR_TRY(weights.open(path));
    return weights.match(io::shapesOf(wanted.tensors));
  }
  io::Status read(const io::FileTensor &tensor, std::vector<float> &values) const override {
    values.resize(size_t(io::elementCount(tensor.tensor.shape)));
    weights.read(tensor.tensor.name, 0, 1, int64_t(values.size()), values.data());
    return {};
  }

private:
  io::Weights weights;
};

/// Blocks of every rank, whose grid lies over the variable, perhaps transposed.
class Checkpoint : public ParameterSource {
public:
  io::Status open(const std::string &path, const rt::Manifest &manifest, const rt::ParameterFiles &wanted) {
    reader = rt::openParameters(path, manifest);
    files = &wanted;
    for (const rt::CheckpointVariable &entry : rt::checkpointVariables(manifest)) {
      if (entry.variable->role != rt::Role::parameter)
        continue;
      entries.insert({entry.variable->name, entry});
      const io::CheckpointTensor &found = reader->info().tensors.at(entry.name);
      if (found.fileShape != entry.tensor.fileShape)
        return io::Status::error(path + "/checkpoint.json: tensor \"" + entry.name + "\" has shape " +
                                 io::toString(found.fileShape) + ", but the package was compiled for " +
                                 io::toString(entry.tensor.fileShape));
    }
    return {};
  }

  io::Status read(const io::FileTensor &tensor, std::vector<float> &values) const override {
    values.assign(size_t(io::elementCount(tensor.tensor.shape)), 0.0f);
    int64_t done = 0;
    for (const io::FileTensor::Use &use : tensor.uses)
      PAR_TRY(readPart(*files->variables[use.variable], use.part, values, done));
    if (done == int64_t(values.size()))
      return {};
    return io::Status::error(reader->path() + "/checkpoint.json: tensor \"" + tensor.tensor.name +
                             "\": its blocks have " + std::to_string(done) + " of " +
                             std::to_string(values.size()) +
                             " elements; the checkpoint is damaged, take another one");
  }

private:
  /// What a variable holds of a tensor. Counts the elements.
  io::Status readPart(const rt::Variable &variable, const io::TensorPart &part, std::vector<float> &values,
                      int64_t &done) const {
    const rt::CheckpointVariable &entry = entries.at(variable.name);
    io::CheckpointBlock block;
    io::Shape strides;
    for (int64_t d : entry.permutation) {
      block.begin.push_back(part.part.begin[size_t(d)]);
      block.size.push_back(part.part.sizes()[size_t(d)]);
      strides.push_back(part.strides[size_t(d)]);
    }
    return reader->read(entry.name, block, [&](const io::Shape &begin, int64_t count, const float *row) {
      int64_t at = part.first, stride = strides.empty() ? 1 : strides.back();
      for (size_t d = 0; d < begin.size(); ++d)
        at += (begin[d] - block.begin[d]) * strides[d];
      for (int64_t i = 0; i < count; ++i)
        values[size_t(at + i * stride)] = io::toFile(variable.file, row[i]);
      done += count;
    });
  }

  std::unique_ptr<io::CheckpointReader> reader;
  const rt::ParameterFiles *files = nullptr;
  std::map<std::string, rt::CheckpointVariable> entries; ///< of parameters, by name
};

template <typename Source>
io::Status openAs(const std::string &path, const rt::Manifest &manifest, const rt::ParameterFiles &wanted,
                  std::unique_ptr<ParameterSource> &source) {
  auto opened = std::make_unique<Source>();
  PAR_TRY(opened->open(path, manifest, wanted));
  source = std::move(opened);
  return {};
}
} // namespace

io::Status openParameters(const std::string &path, const rt::Manifest &manifest,
                          const rt::ParameterFiles &wanted, std::unique_ptr<ParameterSource> &source) {
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
