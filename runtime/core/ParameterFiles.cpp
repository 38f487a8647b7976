#include "core/ParameterFiles.h"

#include "core/Error.h"

namespace par::rt {

ParameterFiles filesOf(const Manifest &manifest, std::vector<const Variable *> variables,
                       const std::string &what, const std::string &remedy) {
  ParameterFiles files{std::move(variables), {}, {}};
  for (const Variable *variable : files.variables) {
    const std::string &name = variable->of.empty() ? variable->name : variable->of;
    if (!variable->hasFile)
      throw Error(manifest.path + ": parameter \"" + name + "\" has no place in files, so " + what +
                  "; give its par.variable file = #par.file<\"NAME\"> and compile again, or " + remedy);
    files.places.push_back({name, variable->shape, variable->file});
  }
  if (io::Status status = io::collectTensors(files.places, files.tensors); !status.ok())
    throw Error(manifest.path + ": " + status.message());
  return files;
}

ParameterFiles parameterFiles(const Manifest &manifest, const std::string &what, const std::string &remedy) {
  std::vector<const Variable *> parameters;
  for (const Variable &variable : manifest.variables)
    if (variable.role == Role::parameter)
      parameters.push_back(&variable);
  return filesOf(manifest, std::move(parameters), what, remedy);
}

void checkComplete(const Manifest &manifest, const ParameterFiles &files) {
  if (io::Status status = io::checkComplete(files.places, files.tensors); !status.ok())
    throw Error(manifest.path + ": " + status.message());
}

} // namespace par::rt
