#include "par/io/FileTensors.h"

#include <algorithm>
#include <map>

namespace par::io {

static std::string quoted(const std::string &name) { return "\"" + name + "\""; }

/// Whether another variable is there with the same place.
static bool isReplica(const std::vector<PlacedVariable> &variables, size_t number, const FileTensor &tensor) {
  const PlacedVariable &variable = variables[number];
  return std::any_of(tensor.uses.begin(), tensor.uses.end(), [&](const FileTensor::Use &use) {
    const PlacedVariable &other = variables[use.variable];
    return use.variable != number && other.shape == variable.shape && other.place == variable.place;
  });
}

Status collectTensors(const std::vector<PlacedVariable> &variables, std::vector<FileTensor> &tensors) {
  std::map<std::string, size_t> numbers;
  for (size_t i = 0; i < variables.size(); ++i) {
    const PlacedVariable &variable = variables[i];
    for (TensorPart &part : partsOf(variable.place, variable.shape)) {
      auto [known, isNew] = numbers.insert({part.name, tensors.size()});
      if (isNew)
        tensors.push_back({{part.name, part.shape}, {}});
      FileTensor &tensor = tensors[known->second];
      if (tensor.tensor.shape != part.shape)
        return Status::error("tensor " + quoted(part.name) + " of the model's files has shape " +
                             toString(tensor.tensor.shape) + " for variable " +
                             quoted(variables[tensor.uses.front().variable].name) + " and " +
                             toString(part.shape) + " for " + quoted(variable.name) +
                             "; give both one shape");
      if (!isReplica(variables, i, tensor))
        tensor.uses.push_back({i, std::move(part)});
    }
  }
  return {};
}

static Status checkTensor(const std::vector<PlacedVariable> &variables, const FileTensor &tensor) {
  std::string text = "tensor " + quoted(tensor.tensor.name) + " of the model's files";
  auto nameOf = [&](size_t use) { return quoted(variables[tensor.uses[use].variable].name); };
  std::vector<Ranges> slices;
  int64_t covered = 0;
  for (size_t use = 0; use < tensor.uses.size(); ++use) {
    const TensorPart &part = tensor.uses[use].part;
    if (part.view != tensor.uses.front().part.view)
      return Status::error(text + " is viewed as " + toString(tensor.uses.front().part.view) +
                           " for variable " + nameOf(0) + " and as " + toString(part.view) + " for " +
                           nameOf(use) + "; give both one view");
    slices.push_back(part.slice);
    covered += elementCount(part.slice.sizes());
  }
  if (auto both = findOverlap(slices))
    return Status::error(text + " has elements that are in variable " + nameOf(both->first) + " and in " +
                         nameOf(both->second) + "; give each a slice of its own");
  if (int64_t all = elementCount(tensor.tensor.shape); covered != all)
    return Status::error(text + " has " + std::to_string(all) + " elements, of which " +
                         std::to_string(covered) + " are in variables; give the rest a variable, too");
  return {};
}

Status checkComplete(const std::vector<PlacedVariable> &variables, const std::vector<FileTensor> &tensors) {
  for (const FileTensor &tensor : tensors)
    PAR_TRY(checkTensor(variables, tensor));
  return {};
}

std::vector<NamedShape> shapesOf(const std::vector<FileTensor> &tensors) {
  std::vector<NamedShape> shapes;
  for (const FileTensor &tensor : tensors)
    shapes.push_back(tensor.tensor);
  return shapes;
}

} // namespace par::io
