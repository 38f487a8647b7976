#include "export/Export.h"

#include "flags/Flags.h"

#include <algorithm>
#include <cstdlib>
#include <map>

namespace par::exporting {

using flags::Flags;

/// "5GB" to bytes, with the units of Transformers' max_shard_size; 0 for what is no size.
static int64_t parseSize(const std::string &text) {
  static const std::map<std::string, double> units = {
      {"", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"KiB", 1024}, {"MiB", 1 << 20}, {"GiB", 1ull << 30}};
  size_t digits = text.find_first_not_of("0123456789.");
  std::string number = text.substr(0, digits);
  auto unit = units.find(digits == std::string::npos ? "" : text.substr(digits));
  if (number.empty() || number.size() > 18 || unit == units.end() ||
      std::count(number.begin(), number.end(), '.') > 1)
    return 0;
  double bytes = std::strtod(number.c_str(), nullptr) * unit->second;
  return bytes >= 1 && bytes < 9e18 ? int64_t(bytes) : 0;
}

static std::string readSize(const std::string &text, int64_t &bytes) {
  bytes = parseSize(text);
  return bytes > 0 ? "" : flags::isNot(text, "a size such as 5GB, 500MB or 2GiB");
}

static void addOptions(Flags &flags, ExportOptions &options) {
  flags.operand("DIR.par", "the package that the model was trained with", options.package);
  flags
      .text("--checkpoint", "C",
            "parameters: a checkpoint, a folder of them (the latest is taken), or a safetensors file of "
            "--save-params",
            options.checkpoint)
      .required();
  flags.text("-o,--output", "HF_DIR", "folder to write; it must not exist or be empty", options.output)
      .required();
  flags.text(
      "--source", "HF_DIR|FILE",
      "Hugging Face folder whose config.json and tokenizer are taken, or a config.json (default: those "
      "of the package, which par-compile keeps)",
      options.source);
  flags.choice<io::FileType>(
      "--dtype", {{"f32", io::FileType::f32}, {"bf16", io::FileType::bf16}, {"f16", io::FileType::f16}},
      "element type of the weights (default: the type that the package was compiled for)", options.type);
  flags.custom("--max-shard-size", "SIZE",
               "begin a new file before one gets larger: 5GB (default), 500MB, 2GiB, ...",
               [&options](const std::string &text) { return readSize(text, options.maxShardBytes); });
}

std::optional<int> parseExportCommandLine(int argc, char **argv, ExportOptions &options) {
  Flags flags("par-export", "par-export DIR.par --checkpoint C -o HF_DIR [flags]",
              "Writes a trained model as a folder that Transformers' from_pretrained loads.");
  addOptions(flags, options);
  std::optional<int> exitCode = flags.read(argc, argv, [] { return std::string(); });
  options.typeGiven = flags.isGiven("--dtype");
  return exitCode;
}

} // namespace par::exporting
