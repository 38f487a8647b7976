#include "standin/Settings.h"

#include "standin/Report.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace par::standin {

static std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

template <typename T>
static bool readNumber(std::string_view text, T &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename T>
static void read(const char *name, T &number) {
  std::string text = variable(name);
  if (!text.empty() && !readNumber(text, number))
    report(std::string(name) + " is \"" + text + "\", expected a number");
}

static FaultOnDemand readFault(const std::string &text) {
  FaultOnDemand fault;
  std::string_view kind = std::string_view(text).substr(0, text.find('@'));
  if (kind == "launch")
    fault.kind = FaultOnDemand::launch;
  if (kind == "stall")
    fault.kind = FaultOnDemand::stall;
  bool good = fault.kind != FaultOnDemand::none && kind.size() < text.size() &&
              readNumber(std::string_view(text).substr(kind.size() + 1), fault.number);
  if (!good && !text.empty())
    report("PAR_STANDIN_FAULT is \"" + text + "\", expected launch@N or stall@N");
  return good ? fault : FaultOnDemand();
}

static std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Arguments of this process that are packages: par-run has one, and needs no variable.
static std::vector<std::string> findPackages() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> packages;
  for (std::string argument; std::getline(file, argument, '\0');) {
    std::error_code none;
    if (std::filesystem::exists(std::filesystem::path(argument) / "manifest.json", none))
      packages.push_back(argument);
  }
  return packages;
}

Settings Settings::fromEnvironment() {
  Settings settings;
  read("PAR_STANDIN_DEVICES", settings.devices);
  read("PAR_STANDIN_SEED", settings.seed);
  read("PAR_STANDIN_MEMORY", settings.memory);
  read("PAR_STANDIN_DRIVER", settings.driver);
  read("PAR_STANDIN_CHIP", settings.chip);
  read("PAR_STANDIN_PROCESSORS", settings.processors);
  if (std::string name = variable("PAR_STANDIN_NAME"); !name.empty())
    settings.name = name;
  settings.fault = readFault(variable("PAR_STANDIN_FAULT"));
  settings.kernels = split(variable("PAR_STANDIN_KERNELS"));
  if (settings.kernels.empty())
    settings.kernels = findPackages();
  return settings;
}

} // namespace par::standin
