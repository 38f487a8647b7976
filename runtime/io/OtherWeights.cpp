#include "par/io/OtherWeights.h"

#include "OtherKinds.h"

#include <algorithm>

namespace par::io {

using std::string_view;

static const char withTransformers[] =
    "AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(NEW_DIR) of Transformers";
static const char withTorch[] = "safetensors.torch.save_file(torch.load(FILE, weights_only=True), NEW_FILE)";

bool endsInAnyCase(string_view text, string_view end) {
  auto lower = [](char letter) { return letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter; };
  return text.size() >= end.size() &&
         std::equal(end.begin(), end.end(), text.end() - std::ptrdiff_t(end.size()),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

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

static std::string zip(string_view begin) {
  if (ends(firstMember(begin), ".npy"))
    return numpy();
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

/// Files that are one of many of a checkpoint, and say little by their bytes.
static std::string partOfCheckpoint(string_view name) {
  name.remove_prefix(name.rfind('/') + 1); // npos + 1 is 0
  if (ends(name, ".distcp") || name == ".metadata")
    return "is one of the files of a folder of torch.distributed.checkpoint; give that folder, and read what "
           "is said of it";
  if (name == "latest" || name == "latest_universal" || name == "latest_checkpointed_iteration.txt")
    return "only says which checkpoint of DeepSpeed or Megatron is the last one; give its folder, and read "
           "what is said of it";
  return "";
}

std::string otherWeightsFile(const std::string &name, string_view begin) {
  constexpr string_view longHeader("{", 1);
  if (begin.substr(std::min<size_t>(8, begin.size()), 1) == longHeader && begin[0] != '{')
    return ""; // a safetensors file that is damaged
  if (std::string part = partOfCheckpoint(name); !part.empty())
    return part;
  for (const char *magic : {"GGUF", "FUGG", "ggjt", "tjgg", "lmgg", "fmgg"})
    if (starts(begin, magic))
      return gguf();
  if (starts(begin, "PK\3\4"))
    return zip(begin);
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
  if (isOnnx(begin) || endsInAnyCase(name, ".onnx"))
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

std::string kindByEnding(string_view name) {
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
    if (endsInAnyCase(name, kind.ending))
      return kind.text();
  return "";
}

} // namespace par::io
