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

/// A pipeline without messages: every stage is a tiny model of its own, with the variables "w<stage>" of the
/// file's "stage<stage>.weight", and all have the program's one file. The last stage alone has outputs.
/// Coordinates are (dp, tp, pp), so neighbouring ranks are of neighbouring stages.
nlohmann::json tinyStages(int dp, int tp, int stages);

/// The same model in one program, which trains the first table and keeps the others as they are.
nlohmann::json tinyWhole(int dp, int tp, int stages);

/// Adds the schedule "eval" to a manifest; its output is the last program's.
void addEvaluation(nlohmann::json &manifest);

/// Writes manifest (hashes and fingerprint filled in), program and launcher to `folder`.
/// `program`: the library whose hash of the manifest is filled in.
void writePackage(const std::string &folder, nlohmann::json manifest,
                  const std::string &program = PAR_TINY_PROGRAM);

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
