#include "standin/Ptx.h"

#include <algorithm>
#include <regex>

namespace par::standin {

/// Bytes of a type of PTX: "u64" → 8.
static uint32_t bytesOf(const std::string &type) {
  size_t digits = type.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : uint32_t(std::stoul(type.substr(digits)) / 8);
}

/// Without what stands in comments. (By hand: expressions of the library go deep on long texts.)
static std::string withoutComments(const std::string &text) {
  std::string rest;
  for (size_t at = 0; at < text.size();) {
    bool line = text.compare(at, 2, "//") == 0, range = text.compare(at, 2, "/*") == 0;
    if (!line && !range) {
      rest += text[at++];
      continue;
    }
    size_t end = line ? text.find('\n', at) : text.find("*/", at + 2);
    at = end == std::string::npos ? text.size() : line ? end : end + 2;
  }
  return rest;
}

static uint64_t product(const std::string &numbers) {
  static const std::regex number("[0-9]+");
  uint64_t all = 1;
  for (std::sregex_iterator at(numbers.begin(), numbers.end(), number), end; at != end; ++at)
    all *= std::stoull(at->str());
  return all;
}

static std::vector<uint32_t> parametersOf(const std::string &list) {
  static const std::regex parameter(
      R"(\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr\s+)?(?:\.(?:global|shared|const|local)\s+)?(?:\.align\s+\d+\s+)?[\w$%]+(\[\d+\])?)");
  std::vector<uint32_t> bytes;
  for (std::sregex_iterator at(list.begin(), list.end(), parameter), end; at != end; ++at)
    bytes.push_back(bytesOf((*at)[1]) * uint32_t((*at)[2].matched ? product((*at)[2]) : 1));
  return bytes;
}

static void readKernels(const std::string &text, PtxModule &module) {
  static const std::regex entry(R"(\.entry\s+([\w$%]+)\s*(?:\(([^)]*)\))?([^{]*)\{)");
  static const std::regex limit(R"(\.(?:maxntid|reqntid)\s+(\d+(?:\s*,\s*\d+)*))");
  for (std::sregex_iterator at(text.begin(), text.end(), entry), end; at != end; ++at) {
    PtxKernel &kernel = module.kernels[(*at)[1]];
    kernel.parameterBytes = parametersOf((*at)[2]);
    std::string directives = (*at)[3];
    if (std::smatch most; std::regex_search(directives, most, limit))
      kernel.mostThreads = uint32_t(std::min<uint64_t>(product(most[1]), 1024));
  }
}

std::string readPtx(const std::string &given, PtxModule &module) {
  std::string text = withoutComments(given);
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(R"(\.version\s+(\d+)\.(\d+))")))
    return "has no .version";
  module.version = std::stoi(found[1]) * 10 + std::stoi(found[2]);
  if (!std::regex_search(text, found, std::regex(R"(\.target\s+sm_(\d+)(a?))")))
    return "has no .target";
  module.chip = std::stoi(found[1]), module.exact = found[2].length() > 0;
  readKernels(text, module);
  return module.kernels.empty() ? "has no .entry" : "";
}

int ptxOf(int driver) {
  int major = driver / 1000, minor = driver % 1000 / 10;
  if (major == 12) // 12.6 has 12.5's, and from there on they are one apart
    return 80 + (minor <= 5 ? minor : minor - 1);
  return (major - 4) * 10 + minor; // 11.8: 7.8; 13.0: 9.0
}

} // namespace par::standin
