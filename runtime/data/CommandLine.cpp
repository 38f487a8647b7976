#include "data/Data.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>

namespace par::data {

/// \n, \t and \\ in a separator, which shells make hard to type.
static std::string unescape(const std::string &text) {
  static const std::map<char, char> escapes = {{'n', '\n'}, {'t', '\t'}, {'r', '\r'}, {'\\', '\\'}};
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    auto escape = text[i] == '\\' && i + 1 < text.size() ? escapes.find(text[i + 1]) : escapes.end();
    if (escape != escapes.end())
      ++i;
    result += escape != escapes.end() ? escape->second : text[i];
  }
  return result;
}

static void addOptions(CLI::App &app, DataOptions &options) {
  static const std::map<std::string, io::TokenType> types = {{"u16", io::TokenType::uint16},
                                                             {"u32", io::TokenType::uint32}};
  app.add_option("input", options.inputs, "UTF-8 text files, in this order; - is standard input")
      ->option_text("INPUT...");
  app.add_option("--tokenizer", options.tokenizer,
                 "a tokenizer.json (byte-level BPE), or the Hugging Face folder that has one")
      ->required()
      ->option_text("FILE|HF_DIR REQUIRED");
  app.add_option("-o,--output", options.output,
                 "file of tokens to write (with --decode: of text; default standard output)")
      ->option_text("FILE");
  app.add_option(
         "--dtype", options.type,
         "element type: u16 or u32 (default: u16 when the vocabulary has at most 65536 ids, else u32)")
      ->transform(CLI::Transformer(types))
      ->check(CLI::IsMember({int(io::TokenType::uint16), int(io::TokenType::uint32)}))
      ->option_text("TYPE");
  app.add_option("--decode", options.decode, "turn this file of tokens into text instead")
      ->option_text("FILE.bin");
}

static void addDocuments(CLI::App &app, DataOptions &options) {
  app.add_flag("--append-eos", options.appendEos, "put the end-of-sequence token behind every document")
      ->group("Documents");
  app.add_option("--eos", options.eos,
                 "which token that is (default: what tokenizer_config.json, special_tokens_map.json or "
                 "config.json says)")
      ->option_text("TOKEN")
      ->group("Documents");
  app.add_flag("--prepend-bos", options.prependBos,
               "put the tokens before every document that the tokenizer's template puts before a text")
      ->group("Documents");
  auto *separator = app.add_option_function<std::string>(
      "--separator", [&](const std::string &text) { options.separator = unescape(text); },
      "this text ends a document within a file and is dropped; \\n, \\t, \\\\ are understood (default: a "
      "file is one document)");
  separator->option_text("TEXT")->group("Documents");
  app.add_option("--jsonl", options.jsonKey,
                 "inputs are lines of JSON objects; the string under KEY is a document")
      ->option_text("KEY")
      ->group("Documents")
      ->excludes(separator);
  app.add_flag("--plain", options.plain,
               "tokens such as <|endoftext|> that stand in the text are plain characters")
      ->group("Documents");
}

static std::string problemOf(const DataOptions &options) {
  if (!options.decode.empty())
    return options.inputs.empty() ? "" : "--decode takes no INPUT; leave out " + options.inputs.front();
  if (options.inputs.empty())
    return "no INPUT is given";
  if (options.output.empty())
    return "-o is required";
  if (!options.eos.empty() && !options.appendEos)
    return "--eos has no effect without --append-eos";
  return "";
}

bool parseDataCommandLine(int argc, char **argv, DataOptions &options, int &exitCode) {
  CLI::App app{"Turns text into the headerless files of tokens that par-run reads, and back.", "par-data"};
  addOptions(app, options);
  addDocuments(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    std::fputs(app.help().c_str(), stdout);
    exitCode = 0;
    return false;
  } catch (const CLI::ParseError &error) {
    std::fprintf(stderr, "error: par-data: %s; see par-data --help\n", error.what());
    exitCode = 1;
    return false;
  }
  std::string problem = problemOf(options);
  if (problem.empty())
    return true;
  std::fprintf(stderr, "error: par-data: %s; see par-data --help\n", problem.c_str());
  exitCode = 1;
  return false;
}

} // namespace par::data
