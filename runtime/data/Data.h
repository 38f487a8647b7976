/// par-data: text to files of tokens, and back (docs/Running.md, "Data").
#ifndef PAR_DATA_DATA_H
#define PAR_DATA_DATA_H

#include "data/Conversations.h"
#include "par/io/Status.h"
#include "par/io/TokenData.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace par::data {

struct DataOptions {
  std::string tokenizer; ///< tokenizer.json or a folder with one
  std::string output;    ///< "-": standard output
  std::vector<std::string> inputs;
  io::TokenType type = io::TokenType::automatic;
  bool appendEos = false, prependBos = false, plain = false;
  std::string eos;        ///< empty: what the folder says
  std::string separator;  ///< empty: a file is a document
  std::string jsonKey;    ///< not empty: inputs are lines of JSON whose value of this key is a document
  bool isChat = false;    ///< inputs are lines of JSON with conversations, of which only answers are targets
  chat::TurnFormat turns; ///< empty: the one that the tokenizer's special tokens are of
  LineFormat lines = LineFormat::messages;
  bool rows = false;             ///< a conversation per row, else they follow each other
  std::set<std::string> ignored; ///< keys of lines and messages
  std::string decode;            ///< not empty: turn this file of tokens into text instead
};

/// Returns the exit code when there is nothing to do (--help, a wrong flag).
std::optional<int> parseDataCommandLine(int argc, char **argv, DataOptions &options);

/// Writes options.output, whole or not at all, and says on standard output what was written (on standard
/// error where the tokens are on the former).
io::Status writeTokens(const DataOptions &options);
/// Writes the text of options.decode to options.output or standard output.
io::Status writeText(const DataOptions &options);

int parDataMain(int argc, char **argv);

} // namespace par::data
#endif
