#include "data/Data.h"

#include "chat/TurnFlag.h"
#include "flags/Flags.h"

namespace par::data {

using flags::Flags;

/// Ids need more than a byte.
static std::string readType(const std::string &text, io::TokenType &type) {
  for (const auto &[word, named] : io::tokenTypeWords())
    if (word == text && named != io::TokenType::uint8) {
      type = named;
      return "";
    }
  return flags::isNot(text, "uint16|uint32 (u16, u32 for short)");
}

static void addOptions(Flags &flags, DataOptions &options) {
  flags.first({"--tokenizer", "--output", "--jsonl", "--append-eos", "--chat"});
  flags.section("Files");
  flags.operands("INPUT...", "UTF-8 text files, in this order; - is standard input", options.inputs);
  flags
      .text("--tokenizer", "FILE|HF_DIR",
            "a tokenizer.json (BPE, byte-level or of the SentencePiece kind), or the Hugging Face folder "
            "that has one",
            options.tokenizer)
      .required()
      .reads();
  flags
      .text("-o,--output", "FILE",
            "file of tokens to write (with --decode: of text; default standard output), - is standard output",
            options.output)
      .writes();
  flags
      .custom("--dtype", "uint16|uint32",
              "element type (default: uint16 when the vocabulary has at most 65536 ids, else uint32)",
              [&options](const std::string &text) { return readType(text, options.type); })
      .takes(config::Takes::text);
  flags.text("--decode", "FILE.bin", "turn this file of tokens into text instead", options.decode).reads();
}

/// Without these a line says nothing, or something else.
static bool isSaid(const std::string &key) {
  for (const char *one : {"messages", "role", "content", "prompt", "completion", "conversations", "from",
                          "value", "instruction", "input", "output"})
    if (key == one)
      return true;
  return false;
}

static void addDocuments(Flags &flags, DataOptions &options) {
  flags.section("Documents");
  flags.toggle("--append-eos", "put the end-of-sequence token behind every document", options.appendEos);
  flags.text("--eos", "TOKEN",
             "which token that is (default: what tokenizer_config.json, special_tokens_map.json or "
             "config.json says)",
             options.eos);
  flags.toggle("--prepend-bos",
               "put the tokens before every document that the tokenizer's template puts before a text",
               options.prependBos);
  flags
      .custom("--separator", "TEXT",
              "this text ends a document within a file and is dropped; \\n, \\t, \\\\ are understood "
              "(default: a file is one document)",
              [&options](const std::string &text) {
                options.separator = flags::unescape(text);
                return std::string();
              })
      .takes(config::Takes::text);
  flags.text("--jsonl", "KEY", "inputs are lines of JSON objects; the string under KEY is a document",
             options.jsonKey);
  flags.toggle("--chat",
               "inputs are lines of JSON with \"messages\" (role, content), or with \"prompt\" and "
               "\"completion\"; only what the assistant says, or the completion, is a target of training",
               options.isChat);
  chat::addTurnFlag(flags, options.turns);
  flags.choice(
      "--lines",
      {{"messages", LineFormat::messages},
       {"sharegpt", LineFormat::sharegpt},
       {"alpaca", LineFormat::alpaca}},
      "what the lines of --chat are: \"messages\", or \"conversations\" of \"from\" and \"value\", or "
      "\"instruction\", \"input\" and \"output\" (default: messages)",
      options.lines);
  flags.choice(
      "--pack", {{"windows", false}, {"none", true}},
      "whether conversations follow each other, and windows of training run over their ends, or each is "
      "a row of its own that par-run fills up with padding (default: windows)",
      options.rows);
  flags
      .custom("--ignore-key", "KEY",
              "a key of lines or messages of --chat that is left out; again for others",
              [&options](const std::string &text) {
                options.ignored.insert(text);
                return isSaid(text) ? flags::isNot(text, "a key beside what a line says") : std::string();
              })
      .repeated()
      .takes(config::Takes::text);
  flags.toggle("--plain", "tokens such as <|endoftext|> that stand in the text are plain characters",
               options.plain);
}

static std::string problemOf(const DataOptions &options, const Flags &flags) {
  if (!options.decode.empty()) {
    for (const char *flag : {"--append-eos", "--eos", "--prepend-bos", "--separator", "--jsonl", "--plain",
                             "--chat", "--turn", "--lines", "--pack", "--ignore-key"})
      if (flags.isGiven(flag))
        return std::string(flag) + " says how text becomes tokens, but --decode goes the other way; leave it "
                                   "out";
    return options.inputs.empty() ? "" : "--decode takes no INPUT; leave out " + options.inputs.front();
  }
  if (options.inputs.empty())
    return "no INPUT is given; name a text file, or - for standard input";
  if (options.output.empty())
    return "-o is missing; say which file of tokens to write";
  if (!options.eos.empty() && !options.appendEos)
    return "--eos has no effect without --append-eos; give both or none";
  for (const char *flag : {"--turn", "--lines", "--pack", "--ignore-key"})
    if (!options.isChat && flags.isGiven(flag))
      return std::string(flag) + " belongs to --chat; give both or none";
  for (const char *flag : {"--jsonl", "--separator", "--plain", "--dtype"})
    if (options.isChat && flags.isGiven(flag))
      return std::string(flag) +
             " has no meaning with --chat, whose lines, special tokens and format of file "
             "are its own; leave it out";
  if (!options.separator.empty() && !options.jsonKey.empty())
    return "--separator and --jsonl both say where documents end; give one";
  return "";
}

std::optional<int> parseDataCommandLine(int argc, char **argv, DataOptions &options) {
  Flags flags("par-data", "par-data INPUT... --tokenizer FILE|HF_DIR -o FILE.bin [flags]",
              "Turns text into the headerless files of tokens that par-run reads, and back.");
  addOptions(flags, options);
  addDocuments(flags, options);
  return flags.read(argc, argv, [&] { return problemOf(options, flags); });
}

} // namespace par::data
