#include "export/Export.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>

namespace par::exporting {

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

static void addOptions(CLI::App &app, ExportOptions &options, std::string &size) {
  static const std::map<std::string, io::FileType> types = {
      {"f32", io::FileType::f32}, {"bf16", io::FileType::bf16}, {"f16", io::FileType::f16}};
  app.add_option("package", options.package, "the package that the model was trained with")
      ->required()
      ->option_text("DIR.par REQUIRED");
  app.add_option("--checkpoint", options.checkpoint,
                 "parameters: a checkpoint, a folder of them (the latest is taken), or a safetensors file of "
                 "--save-params")
      ->required()
      ->option_text("C REQUIRED");
  app.add_option("-o,--output", options.output, "folder to write; it must not exist or be empty")
      ->required()
      ->option_text("HF_DIR REQUIRED");
  app.add_option("--source", options.source,
                 "Hugging Face folder whose config.json and tokenizer are taken, or a config.json (default: "
                 "those of the package, which par-compile keeps)")
      ->option_text("HF_DIR|FILE");
  app.add_option("--dtype", options.type,
                 "element type of the weights: f32, bf16 or f16 (default: the type that the package was "
                 "compiled for)")
      ->transform(CLI::Transformer(types))
      ->check(CLI::IsMember({int(io::FileType::f32), int(io::FileType::bf16), int(io::FileType::f16)}))
      ->option_text("TYPE");
  app.add_option("--max-shard-size", size,
                 "begin a new file before one gets larger: 5GB (default), 500MB, 2GiB, ...")
      ->option_text("SIZE");
}

bool parseExportCommandLine(int argc, char **argv, ExportOptions &options, int &exitCode) {
  CLI::App app{"Writes a trained model as a folder that Transformers' from_pretrained loads.", "par-export"};
  std::string size;
  addOptions(app, options, size);
  exitCode = 1;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    exitCode = 0;
    return false;
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "error: par-export: %s; see par-export --help\n", error.what());
    return false;
  }
  options.typeGiven = app.count("--dtype") > 0;
  if (!size.empty())
    options.maxShardBytes = parseSize(size);
  if (options.maxShardBytes > 0)
    return true;
  std::fprintf(stderr, "error: par-export: --max-shard-size: \"%s\" is no size; write 5GB, 500MB or 2GiB\n",
               size.c_str());
  return false;
}

} // namespace par::exporting
