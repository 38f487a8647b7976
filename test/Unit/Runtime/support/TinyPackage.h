/// Packages of TinyProgram in temporary folders, and par-run on them.
#ifndef TINY_PACKAGE_H
#define TINY_PACKAGE_H

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace par::test {

/// A folder that is removed with its content.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  std::string operator/(const std::string &name) const { return path + "/" + name; }
  std::vector<std::string> files() const;
  const std::string &root() const { return path; }

private:
  std::string path;
};

void writeText(const std::string &path, const std::string &content);
std::string readText(const std::string &path);
/// Writes a text that holds its own hash under "sha256" after it was changed.
void writeHashed(const std::string &path, nlohmann::json json);

/// The manifest for a mesh, without hashes. `started`: collectives run beside what is computed.
nlohmann::json tinyManifest(int dp, int tp, bool started = false);

/// Adds the schedule "eval" to a manifest.
void addEvaluation(nlohmann::json &manifest);

/// Writes manifest (hashes and fingerprint filled in), program and launcher to `folder`.
void writePackage(const std::string &folder, nlohmann::json manifest);

struct RunResult {
  int exitCode;
  std::string output; ///< standard output and error together
  double seconds;
};

/// How often a part stands in a text; occurrences may overlap.
int count(const std::string &text, const std::string &part);

/// A port of 127.0.0.1 that nobody listens on now.
int freePort();

/// Runs a command by the shell.
RunResult runShell(const std::string &command);
/// par-run with these arguments; `environment` comes before the command.
RunResult parRun(const std::string &arguments, const std::string &environment = "");

std::vector<nlohmann::json> metricsOf(const std::string &path);

/// name → values of an f32 safetensors file, read by the library under test.
std::map<std::string, std::vector<float>> tensorsOf(const std::string &path);

/// What TinyProgram has to give for a file of bytes as data: losses, norms, gradient and parameters in file
/// layout.
struct TinyReference {
  std::vector<double> loss, norm;
  std::vector<double> gradient, parameters;
};
TinyReference tinyReference(const std::string &data, int steps, double lr, std::vector<double> parameters);

} // namespace par::test
#endif
