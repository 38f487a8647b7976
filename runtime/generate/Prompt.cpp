#include "generate/Prompt.h"

#include "core/Error.h"
#include "par/io/Files.h"
#include "text/Encoder.h"
#include "text/EndTokens.h"

#include <cstdio>

namespace par::generating {

using rt::check;
using rt::Error;

/// The tokenizer.json to read.
static std::string findTokenizer(const GenerateOptions &options) {
  std::string path = options.tokenizer;
  if (path.empty() && io::isFile(options.weights + "/tokenizer.json"))
    path = options.weights;
  if (path.empty() && io::isFile(options.package + "/tokenizer.json"))
    path = options.package;
  if (path.empty())
    throw Error("no tokenizer reads --prompt; give --tokenizer tokenizer.json, or tokens with "
                "--prompt-tokens");
  return io::isFolder(path) ? path + "/tokenizer.json" : path;
}

void Prompt::encode(const GenerateOptions &options) {
  tokenizer = std::make_unique<text::Tokenizer>();
  check(tokenizer->open(findTokenizer(options)));
  std::vector<uint32_t> ids = tokenizer->prefix();
  check(text::Encoder(*tokenizer).encode(options.prompt, ids));
  tokens.assign(ids.begin(), ids.end());
  text = options.prompt;
}

/// What the folder of the weights says counts more than what the package keeps.
void Prompt::findEnds(const GenerateOptions &options) {
  for (const std::string &folder : {options.weights, options.package})
    if (ends.empty() && !folder.empty())
      check(text::findEndTokens(folder, ends));
}

void Prompt::open(const GenerateOptions &options, const rt::Manifest &manifest) {
  findEnds(options);
  if (options.ignoresEnd && ends.empty())
    std::fprintf(stderr,
                 "note: --ignore-eos changes nothing: neither generation_config.json nor config.json names "
                 "an end token\n");
  if (options.ignoresEnd)
    ends.clear();
  for (int64_t token : options.promptTokens)
    if (token >= int64_t(manifest.vocabulary))
      throw Error("--prompt-tokens: " + std::to_string(token) +
                  " is no token of the model, whose vocabulary has ids 0 to " +
                  std::to_string(manifest.vocabulary - 1));
  tokens.assign(options.promptTokens.begin(), options.promptTokens.end());
  if (options.isText)
    encode(options);
  for (int32_t token : tokens)
    if (uint32_t(token) >= manifest.vocabulary)
      throw Error("--prompt: the tokenizer gives token " + std::to_string(token) +
                  ", but the model's vocabulary has ids 0 to " + std::to_string(manifest.vocabulary - 1) +
                  "; give the tokenizer that the model was trained with");
  if (tokens.empty())
    throw Error("the prompt has no token to continue; give a longer one");
  if (int64_t(tokens.size()) > manifest.sequence)
    throw Error("the prompt has " + std::to_string(tokens.size()) + " tokens, but " + manifest.path +
                " was compiled for sequences of " + std::to_string(manifest.sequence) +
                "; give a shorter one or compile with a larger --seq");
}

void Prompt::begin() {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void Prompt::print(int32_t token) {
  if (!tokenizer) {
    std::printf(first ? "%d" : " %d", token);
  } else if (uint32_t(token) < tokenizer->size()) { // models pad their vocabularies
    std::string_view bytes = tokenizer->bytes(uint32_t(token));
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
  }
  first = false;
  std::fflush(stdout);
}

void Prompt::end() const {
  if (std::printf("\n") < 0 || std::fflush(stdout) != 0)
    throw Error("standard output cannot be written");
}

} // namespace par::generating
