#include "par/io/Weights.h"

#include "WeightIndex.h"
#include "WeightNames.h"
#include "par/io/Checkpoint.h"
#include "par/io/OtherWeights.h"
#include "par/io/Sha256.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace par::io {

static constexpr char oneFile[] = "/model.safetensors", indexFile[] = "/model.safetensors.index.json";

/// What messages call the tensor, which its file may name otherwise.
static std::string text(const SafetensorsEntry &entry) { return "tensor \"" + entry.name + "\""; }

static bool isEmbedding(const std::string &plain) {
  return plain == "wte.weight" || plain == "embed_tokens.weight";
}

Status Weights::add(const SafetensorsReader &file, const SafetensorsEntry &entry) {
  auto [place, added] = found.insert({plainName(entry.name), Place{&file, &entry}});
  if (added)
    return {};
  return Status::error(file.path() + ": " + text(entry) + " is there twice, also as \"" +
                       place->second.entry->name + "\" in " + place->second.file->path() +
                       ", and nothing says which counts; leave one of them out");
}

Status Weights::openFile(const std::string &path, const SafetensorsReader *&file) {
  auto reader = std::make_unique<SafetensorsReader>();
  PAR_TRY(reader->open(path));
  file = reader.get();
  files.push_back(std::move(reader));
  return {};
}

/// An index may be left from a model that was in the folder before.
static Status wrongPlace(const std::string &folder, const std::string &tensor, const std::string &name,
                         const std::string &what) {
  return Status::error(
      folder + indexFile + ": weight_map has \"" + tensor + "\" in " + name + ", but that file " + what +
      (isFileOrLink(folder + oneFile) ? ", or remove the index if model.safetensors is the whole model"
                                      : ""));
}

Status Weights::openIndex(const std::string &folder) {
  std::map<std::string, std::string> places;
  PAR_TRY(readWeightIndex(folder + indexFile, places));
  struct Shard {
    const SafetensorsReader *file;
    std::map<std::string, const SafetensorsEntry *> entries;
  };
  std::map<std::string, Shard> shards;
  for (const auto &[tensor, name] : places) {
    auto [shard, isNew] = shards.insert({name, {}});
    if (isNew) {
      if (!isFileOrLink(folder + "/" + name))
        return wrongPlace(folder, tensor, name, "is not there; fetch it, too");
      PAR_TRY(openFile(folder + "/" + name, shard->second.file));
      for (const SafetensorsEntry &entry : shard->second.file->entries())
        shard->second.entries[entry.name] = &entry;
    }
    auto entry = shard->second.entries.find(tensor);
    if (entry == shard->second.entries.end())
      return wrongPlace(folder, tensor, name, "does not; fetch the index and the files of one model again");
    PAR_TRY(add(*shard->second.file, *entry->second));
  }
  return {};
}

Status Weights::openFolder(const std::string &folder) {
  bool hasIndex = isFileOrLink(folder + indexFile);
  if (!hasIndex && !isFileOrLink(folder + oneFile)) {
    if (!findCheckpoint(folder).empty())
      return Status::error(folder +
                           ": is a checkpoint of par-run; give it to --resume, or make a model of it with "
                           "par-export");
    std::string other = otherWeightsFolder(folder);
    return Status::error(folder + ": " +
                         (other.empty()
                              ? "has neither model.safetensors nor model.safetensors.index.json; give a "
                                "folder that save_pretrained wrote, or a safetensors file"
                              : other));
  }
  if (!adapterOf(folder).empty())
    return Status::error(folder +
                         ": holds a model and an adapter (adapter_config.json), which would not be read; "
                         "merge it into its model with PEFT (merge_and_unload), or take the adapter's "
                         "files away");
  if (hasIndex)
    return openIndex(folder);
  const SafetensorsReader *file;
  PAR_TRY(openFile(folder + oneFile, file));
  for (const SafetensorsEntry &entry : file->entries())
    PAR_TRY(add(*file, entry));
  return {};
}

Status Weights::open(const std::string &path) {
  source = path;
  if (isFolder(path))
    return openFolder(path);
  const SafetensorsReader *file;
  PAR_TRY(openFile(path, file));
  for (const SafetensorsEntry &entry : file->entries())
    PAR_TRY(add(*file, entry));
  return {};
}

/// Adapters that name their tensors as their model does are known by their file's name.
static bool isAdapterFile(const std::string &path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name == "adapter_model.safetensors" || name == "adapters.safetensors";
}

Status Weights::checkKind() const {
  for (const auto &item : found)
    if (std::string kind = kindByName(item.second.entry->name); !kind.empty())
      return Status::error(item.second.file->path() + ": " + text(*item.second.entry) + ": " + kind);
  for (const auto &file : files)
    if (isAdapterFile(file->path()))
      return Status::error(file->path() + ": by its name it " + adapterTensor);
  return {};
}

/// Names that no wanted tensor takes are the likelier ones; where all are taken, the nearest of all is named.
std::string Weights::missing(const NamedShape &tensor, const std::vector<NamedShape> &wanted) const {
  std::set<std::string> names;
  size_t there = 0;
  for (const NamedShape &other : wanted) {
    names.insert(plainName(other.name));
    there += found.count(plainName(other.name));
  }
  std::vector<std::string> all, untaken;
  for (const auto &[name, place] : found) {
    all.push_back(place.entry->name);
    if (!names.count(name) && !isBuffer(name))
      untaken.push_back(place.entry->name);
  }
  const std::string *nearest = nearestName(tensor.name, untaken.empty() ? all : untaken);
  return source + ": tensor \"" + tensor.name + "\" of the model is missing; " +
         (nearest ? "the nearest name that is there is \"" + *nearest + "\"" : "no tensor is there") +
         ", and " + std::to_string(there) + " of the model's " + std::to_string(wanted.size()) +
         " tensors are; give the weights of the model that the package was compiled for, with the names that "
         "Transformers gives them";
}

Status Weights::takeWanted(const NamedShape &tensor, const std::vector<NamedShape> &wanted) {
  auto place = found.find(plainName(tensor.name));
  if (place == found.end())
    return Status::error(missing(tensor, wanted));
  const SafetensorsEntry &entry = *place->second.entry;
  std::string where = place->second.file->path() + ": " + text(entry) + ": ";
  if (entry.type == FileType::other)
    return Status::error(where + "has dtype " + entry.dtype + ", expected F32, BF16, F16 or F64; " +
                         quantised);
  if (entry.shape != tensor.shape)
    return Status::error(where + "has shape " + toString(entry.shape) +
                         ", but the package was compiled for " + toString(tensor.shape));
  matched[tensor.name] = place->second;
  return {};
}

Status Weights::checkTied(const Place &head) const {
  for (const auto &[name, embedding] : matched) {
    if (!isEmbedding(plainName(name)))
      continue;
    std::string where =
        head.file->path() + ": " + text(*head.entry) + ": the head is tied to \"" + name + "\", but ";
    if (head.entry->type == FileType::other || head.entry->shape != embedding.entry->shape)
      return Status::error(where + "has dtype " + head.entry->dtype + " and shape " +
                           toString(head.entry->shape));
    float a[1024], b[1024];
    int64_t total = elementCount(head.entry->shape);
    for (int64_t first = 0; first < total; first += 1024) {
      int64_t count = std::min<int64_t>(1024, total - first);
      head.file->read(*head.entry, first, 1, count, a);
      embedding.file->read(*embedding.entry, first, 1, count, b);
      for (int64_t i = 0; i < count; ++i)
        if (std::memcmp(a + i, b + i, sizeof(float)) != 0)
          return Status::error(where + "differs from it at element " + std::to_string(first + i) +
                               "; compile with tie_word_embeddings=false");
    }
    return {};
  }
  return Status::error(head.file->path() + ": tensor \"lm_head.weight\" is not one of the model");
}

Status Weights::match(const std::vector<NamedShape> &wanted) {
  PAR_TRY(checkKind());
  std::set<std::string> names;
  for (const NamedShape &tensor : wanted) {
    PAR_TRY(takeWanted(tensor, wanted));
    names.insert(plainName(tensor.name));
  }
  for (const auto &[name, place] : found) {
    if (names.count(name) || isBuffer(name) || isOfPictures(name))
      continue;
    if (name == "lm_head.weight")
      PAR_TRY(checkTied(place));
    else
      return Status::error(place.file->path() + ": tensor \"" + place.entry->name +
                           "\" is not one of the model that the package was compiled for");
  }
  return {};
}

std::string Weights::placeOf(const std::string &wanted) const {
  const Place &place = matched.at(wanted);
  return place.file->path() + ": tensor \"" + place.entry->name + "\"";
}

void Weights::read(const std::string &wanted, int64_t first, int64_t stride, int64_t count,
                   float *out) const {
  const Place &place = matched.at(wanted);
  place.file->read(*place.entry, first, stride, count, out);
}

std::string Weights::summary() const {
  Sha256 hash;
  for (const auto &[name, place] : matched) {
    const SafetensorsEntry &entry = *place.entry;
    std::string what = name + " " + entry.dtype + " " + toString(entry.shape) + ";";
    hash.update(what.data(), what.size());
    hash.update(place.file->bytes(entry), size_t(std::min<int64_t>(entry.end - entry.begin, 1024)));
  }
  return std::to_string(matched.size()) + " tensors with hash " + hash.finish().substr(0, 16);
}

} // namespace par::io
