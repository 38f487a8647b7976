#include "generate/Continuation.h"

#include "core/Error.h"
#include "par/io/Files.h"
#include "text/EndTokens.h"

#include <cstdio>

namespace par::generating {

using rt::Error;

std::string findTokenizer(const GenerateOptions &options, const std::string &what) {
  if (!options.tokenizer.empty())
    return options.tokenizer;
  for (const std::string &folder : {options.weights, options.package})
    if (io::isFile(folder + "/tokenizer.json"))
      return folder;
  throw Error("no tokenizer reads " + what);
}

std::vector<int64_t> findEnds(const GenerateOptions &options, const rt::Manifest &manifest) {
  std::vector<int64_t> ends;
  for (const std::string &folder : {options.weights, options.package})
    if (ends.empty() && !folder.empty())
      rt::check(text::findEndTokens(folder, int64_t(manifest.vocabulary), ends));
  return ends;
}

void checkTokens(const std::string &what, const std::vector<int32_t> &tokens, const rt::Manifest &manifest) {
  for (int32_t token : tokens)
    if (uint32_t(token) >= manifest.vocabulary)
      throw Error(what + ": the tokenizer gives token " + std::to_string(token) +
                  ", but the model's vocabulary has ids 0 to " + std::to_string(manifest.vocabulary - 1) +
                  "; give the tokenizer that the model was trained with");
}

void endLine() {
  if (std::printf("\n") < 0 || std::fflush(stdout) != 0)
    throw Error("standard output cannot be written");
}

} // namespace par::generating
