// A text that the model goes on with once.
#include "core/Error.h"
#include "generate/Continuation.h"
#include "text/Encoder.h"
#include "text/ModelFolder.h"
#include "text/TextStream.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace par::generating {

using rt::check;
using rt::Error;

namespace {
class Prompt : public Continuation {
public:
  Prompt(const GenerateOptions &options, const rt::Manifest &manifest) {
    setEnds(options, manifest);
    for (int64_t token : options.promptTokens)
      if (token >= int64_t(manifest.vocabulary))
        throw Error("--prompt-tokens: " + std::to_string(token) +
                    " is no token of the model, whose vocabulary has ids 0 to " +
                    std::to_string(manifest.vocabulary - 1));
    prompt.assign(options.promptTokens.begin(), options.promptTokens.end());
    if (options.isText)
      encode(options);
    checkTokens("--prompt", prompt, manifest);
    if (prompt.empty())
      throw Error("the prompt has no token to continue; give a longer one");
    if (int64_t(prompt.size()) > manifest.sequence)
      throw Error("the prompt has " + std::to_string(prompt.size()) + " tokens, but " + manifest.path +
                  " was compiled for sequences of " + std::to_string(manifest.sequence) +
                  "; give a shorter one or compile with a larger --seq");
  }

  /// The text, which the new tokens follow, or nothing before their numbers.
  bool begin(std::vector<int32_t> &tokens) override {
    tokens = std::move(prompt);
    prompt.clear();
    std::fputs(tokens.empty() ? "" : text.c_str(), stdout);
    std::fflush(stdout);
    return !tokens.empty();
  }

  bool add(int32_t token) override {
    if (std::count(ends.begin(), ends.end(), token))
      return false;
    if (!model) {
      std::printf(isFirst ? "%d" : " %d", token);
    } else {
      std::string more;
      written->add(uint32_t(token), more);
      show(more);
    }
    isFirst = false;
    std::fflush(stdout);
    return true;
  }

  void end() override {
    std::string rest;
    if (written)
      written->finish(rest);
    show(rest);
    endLine();
  }

  bool slides() const override { return true; }

private:
  static void show(const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); }

  void setEnds(const GenerateOptions &options, const rt::Manifest &manifest) {
    ends = findEnds(options, manifest);
    if (options.ignoresEnd && ends.empty())
      std::fprintf(stderr,
                   "note: --ignore-eos changes nothing: neither generation_config.json nor config.json names "
                   "an end token\n");
    if (options.ignoresEnd)
      ends.clear();
  }

  void encode(const GenerateOptions &options) {
    model = std::make_unique<text::ModelFolder>();
    check(model->open(
        findTokenizer(options, "--prompt; give --tokenizer tokenizer.json, or tokens with --prompt-tokens")));
    written.emplace(model->tokenizer, /*begins=*/false);
    std::vector<uint32_t> ids = model->tokenizer.prefix();
    if (io::Status status = text::Encoder(model->tokenizer).encode(options.prompt, ids); !status.ok())
      throw Error("--prompt: " + status.message());
    prompt.assign(ids.begin(), ids.end());
    text = options.prompt;
  }

  std::vector<int32_t> prompt;
  std::string text;
  std::unique_ptr<text::ModelFolder> model; ///< null: tokens are shown as numbers
  std::optional<text::TextStream> written;
  std::vector<int64_t> ends; ///< tokens before which the text ends
  bool isFirst = true;
};
} // namespace

std::unique_ptr<Continuation> openPrompt(const GenerateOptions &options, const rt::Manifest &manifest) {
  return std::make_unique<Prompt>(options, manifest);
}

} // namespace par::generating
