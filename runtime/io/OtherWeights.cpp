#include "par/io/OtherWeights.h"

#include "par/io/Files.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <set>

namespace par::io {

using std::string_view;
namespace fs = std::filesystem;

static const char withTransformers[] =
    "AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(NEW_DIR) of Transformers";
static const char withTorch[] = "safetensors.torch.save_file(torch.load(FILE, weights_only=True), NEW_FILE)";

static bool starts(string_view text, string_view begin) { return text.substr(0, begin.size()) == begin; }
static bool ends(string_view text, string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

static std::string pickle() {
  return std::string(
             "is a file of torch.save, which only Python reads, and which may run code; convert it with ") +
         withTorch + ", or a model's folder with " + withTransformers;
}

static std::string gguf() {
  return std::string(
      "is a GGUF file of llama.cpp, most of which are quantised; give the model that it was made "
      "from, or convert it with AutoModelForCausalLM.from_pretrained(DIR, gguf_file=FILE)"
      ".save_pretrained(NEW_DIR) of Transformers");
}

static std::string foreignFramework(const std::string &what, const char *flag) {
  return "is a file of " + what + "; convert it with AutoModelForCausalLM.from_pretrained(DIR, " + flag +
         ").save_pretrained(NEW_DIR) of Transformers";
}

static std::string onnx() {
  return std::string("is an ONNX model; give the model that it was exported from, as ") + withTransformers +
         " writes it";
}

static std::string numpy() {
  return "is a file of NumPy or MLX; convert it with safetensors.numpy.save_file(dict(numpy.load(FILE)), "
         "NEW_FILE)";
}

/// The name of a zip archive's first member.
static string_view firstMember(string_view begin) {
  if (begin.size() < 30)
    return {};
  size_t length =
      size_t(static_cast<unsigned char>(begin[26])) | size_t(static_cast<unsigned char>(begin[27])) << 8;
  return begin.substr(30, length);
}

/// The map and the string that MessagePack begins Flax's files with.
static bool isMessagePack(string_view begin) {
  if (begin.size() < 8)
    return false;
  auto byte = [&](size_t i) { return static_cast<unsigned char>(begin[i]); };
  size_t key = byte(0) == 0xde ? 3 : byte(0) == 0xdf ? 5 : byte(0) > 0x80 && byte(0) < 0x90 ? 1 : 0;
  return key && ((byte(key) > 0xa0 && byte(key) < 0xc0) || byte(key) == 0xd9);
}

/// A protocol buffer whose first fields are ir_version and producer_name.
static bool isOnnx(string_view begin) {
  return begin.size() > 4 && begin[0] == 0x08 && begin[1] > 0 && begin[1] < 32 && begin[2] == 0x12 &&
         begin[3] > 0 && begin[3] < 64;
}

static std::string archive() { return "is a compressed archive; unpack it, and give what is in it"; }

static std::string zip(const std::string &name, string_view begin) {
  if (ends(firstMember(begin), ".npy"))
    return numpy();
  if (ends(name, ".distcp"))
    return "is one of the files of a folder of torch.distributed.checkpoint; give that folder, and read what "
           "is "
           "said of it";
  string_view member = firstMember(begin);
  bool isTorch = ends(member, "data.pkl") || member.find("/data/") != string_view::npos ||
                 ends(member, "/.format_version") || ends(member, "/byteorder") || ends(member, "/version");
  return isTorch ? pickle() : archive();
}

static std::string json(string_view begin) {
  if (begin.find("\"weight_map\"") != string_view::npos || begin.find("\"total_size\"") != string_view::npos)
    return "is the index of weights, which lie in other files of its folder; give the folder";
  return "is a text in JSON and holds no weights; give the model's folder, or its safetensors file";
}

std::string otherWeightsFile(const std::string &name, string_view begin) {
  constexpr string_view longHeader("{", 1);
  if (begin.substr(std::min<size_t>(8, begin.size()), 1) == longHeader && begin[0] != '{')
    return ""; // a safetensors file that is damaged
  for (const char *magic : {"GGUF", "FUGG", "ggjt", "tjgg", "lmgg", "fmgg"})
    if (starts(begin, magic))
      return gguf();
  if (starts(begin, "PK\3\4"))
    return zip(name, begin);
  if (starts(begin, "\x89HDF\r\n"))
    return foreignFramework("TensorFlow or Keras (HDF5)", "from_tf=True");
  if (starts(begin, "\x93NUMPY"))
    return numpy();
  for (string_view magic : {string_view("\x1f\x8b", 2), string_view("\x28\xb5\x2f\xfd"), string_view("BZh"),
                            string_view("\xfd"
                                        "7zXZ"),
                            string_view("7z\xbc\xaf")})
    if (starts(begin, magic))
      return archive();
  if (begin.size() > 262 && begin.substr(257, 5) == "ustar") // also NeMo's .nemo
    return archive();
  if (begin.size() > 2 && begin[0] == '\x80' && begin[1] >= 2 && begin[1] <= 5)
    return pickle();
  if (isMessagePack(begin))
    return foreignFramework("Flax (MessagePack)", "from_flax=True");
  if (isOnnx(begin) || ends(name, ".onnx"))
    return onnx();
  size_t text = begin.find_first_not_of(" \t\r\n");
  string_view rest = text == string_view::npos ? string_view() : begin.substr(text);
  if (starts(rest, "<!DOCTYPE") || starts(rest, "<!doctype") || starts(rest, "<html"))
    return "is a web page; download the file itself (on Hugging Face, its address has /resolve/ where the "
           "page's "
           "has /blob/)";
  if (starts(rest, "{") && rest.find('"') != string_view::npos)
    return json(rest);
  return "";
}

namespace {
/// Names in a folder, without those of its subfolders.
class Names {
public:
  explicit Names(const std::string &folder) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      all.insert(entry->path().filename().string());
  }
  bool has(const std::string &name) const { return all.count(name) != 0; }
  std::string find(const std::function<bool(const std::string &)> &isIt) const {
    auto found = std::find_if(all.begin(), all.end(), isIt);
    return found == all.end() ? "" : *found;
  }
  std::string ending(string_view end) const {
    return find([&](const std::string &name) { return ends(name, end); });
  }
  std::string beginning(string_view begin) const {
    return find([&](const std::string &name) { return starts(name, begin); });
  }

private:
  std::set<std::string> all;
};
} // namespace

std::string adapterOf(const std::string &folder) {
  Names names(folder);
  if (!names.has("adapter_config.json") && names.beginning("adapter_model.").empty())
    return "";
  return "holds an adapter (LoRA and its kin: adapter_config.json), and no model of its own; merge it into "
         "its model "
         "with PEFT: "
         "AutoPeftModelForCausalLM.from_pretrained(DIR).merge_and_unload().save_pretrained(NEW_DIR)";
}

static std::string beginOf(const std::string &path) {
  MappedFile file;
  if (!file.open(path).ok())
    return "";
  return {reinterpret_cast<const char *>(file.data()), std::min<size_t>(file.size(), 4096)};
}

static bool isDeepSpeed(const std::string &folder, const Names &names) {
  auto hasStates = [](const Names &some) {
    return !some.ending("_model_states.pt").empty() || !some.ending("_optim_states.pt").empty();
  };
  std::string step = names.beginning("global_step");
  return names.has("zero_to_fp32.py") || hasStates(names) ||
         (!step.empty() && hasStates(Names(folder + "/" + step)));
}

static bool isMegatron(const Names &names) {
  return names.has("latest_checkpointed_iteration.txt") || !names.beginning("mp_rank_").empty();
}

static bool isDistributed(const std::string &folder, const Names &names) {
  std::string inner = names.beginning("pytorch_model_fsdp");
  return !names.ending(".distcp").empty() || (!inner.empty() && isFolder(folder + "/" + inner));
}

static std::string trainersFolder(const std::string &folder, const Names &names) {
  if (isDeepSpeed(folder, names))
    return "holds a checkpoint of DeepSpeed, whose ranks have a part of the weights each; join them with its "
           "own script: python zero_to_fp32.py DIR NEW_DIR --safe_serialization";
  if (isMegatron(names))
    return "holds a checkpoint of Megatron; convert it to Transformers' form with Megatron Bridge, or with "
           "tools/checkpoint/convert.py of Megatron-LM";
  if (isDistributed(folder, names))
    return "holds a checkpoint of torch.distributed.checkpoint (.distcp, also Megatron's and FSDP's); join "
           "it with python -m torch.distributed.checkpoint.format_utils dcp_to_torch DIR FILE "
           "(dcp_to_torch_save in Python), or of FSDP with accelerate merge-weights DIR NEW_DIR, and save "
           "the "
           "tensors with safetensors.torch.save_file";
  return "";
}

static std::string pickledFolder(const Names &names) {
  for (const char *pickled : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (names.has(pickled))
      return std::string("has its weights as ") + pickled +
             ", which only Python reads; convert them with Transformers: "
             "AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(NEW_DIR)";
  if (!names.beginning("consolidated.").empty() || names.has("params.json"))
    return "holds a model in Meta's or Mistral's own form; convert it with Transformers' script for the "
           "model, or "
           "download it in Transformers' form";
  return "";
}

/// Files of other kinds, by what they are called. Tokens and much else are .bin, too, so there its bytes
/// decide.
static std::string foreignFile(const std::string &folder, const Names &names) {
  struct Kind {
    const char *ending;
    std::string (*text)();
  };
  static const Kind kinds[] = {
      {".gguf", gguf},
      {".h5", [] { return foreignFramework("TensorFlow or Keras (HDF5)", "from_tf=True"); }},
      {".msgpack", [] { return foreignFramework("Flax (MessagePack)", "from_flax=True"); }},
      {".onnx", onnx},
      {".npz", numpy},
      {".pt", pickle},
      {".pth", pickle},
      {".ckpt", pickle},
  };
  for (const Kind &kind : kinds)
    if (std::string name = names.ending(kind.ending); !name.empty())
      return "has no safetensors; its " + name + " " + kind.text();
  std::string name = names.ending(".bin");
  std::string kind = name.empty() ? "" : otherWeightsFile(name, beginOf(folder + "/" + name));
  return kind.empty() ? "" : "has no safetensors; its " + name + " " + kind;
}

static std::string looseSafetensors(const Names &names) {
  std::string one = names.ending(".safetensors");
  std::string another =
      names.find([&](const std::string &name) { return ends(name, ".safetensors") && name != one; });
  if (one.empty())
    return "";
  if (another.empty() && one.find("-of-") == std::string::npos)
    return "has no model.safetensors, but " + one + "; give that file";
  return "has parts of a model (" + one +
         "), but no model.safetensors.index.json, which says what is in which; fetch "
         "that, too";
}

static std::string cacheFolder(const std::string &folder, const Names &names) {
  if (!names.has("snapshots"))
    return "";
  std::string snapshot = Names(folder + "/snapshots").beginning("");
  return "is a folder of Hugging Face's cache; give the model within it: " + folder + "/snapshots/" +
         snapshot;
}

static std::string firstOf(std::initializer_list<std::string> texts) {
  for (const std::string &text : texts)
    if (!text.empty())
      return text;
  return "";
}

std::string otherModelFolder(const std::string &folder) {
  Names names(folder);
  return firstOf(
      {adapterOf(folder), trainersFolder(folder, names), pickledFolder(names), cacheFolder(folder, names)});
}

std::string otherWeightsFolder(const std::string &folder) {
  Names names(folder);
  return firstOf({otherModelFolder(folder), looseSafetensors(names), foreignFile(folder, names)});
}

} // namespace par::io
