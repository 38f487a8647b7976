//===- ParameterFiles.cpp - parameters from and to files ------------------------------------------------===//
#include "par/Interpreter/ParameterFiles.h"
#include "par/io/Philox.h"
#include "par/io/Weights.h"
#include "llvm/ADT/StringSet.h"
#include <numeric>

using namespace mlir;
using namespace mlir::par;
namespace io = ::par::io;

/// The parameter whose file a variable belongs to: itself or its owner; null if it has no file.
static VariableOp getFileOwner(VariableOp variable) {
  if (FlatSymbolRefAttr owner = variable.getOfAttr())
    variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(variable, owner);
  return variable && variable.getFile() ? variable : VariableOp();
}

/// The order of a file's dimensions; the variable's own where it has no place in a file.
static std::vector<int64_t> getPermutation(VariableOp variable) {
  if (std::optional<FileAttr> file = variable.getFile(); file && !file->getPermutation().empty())
    return file->getPermutation().vec();
  std::vector<int64_t> identity(variable.getTensorType().getRank());
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}

static io::NamedShape getNamedShape(VariableOp variable) {
  FileAttr file = *variable.getFile();
  io::NamedShape named{file.getName().str(), file.getShape().vec()};
  if (file.getShape().empty())
    for (int64_t dim : getPermutation(variable))
      named.shape.push_back(variable.getTensorType().getDimSize(dim));
  return named;
}

/// The whole logical tensor as one shard.
static io::ShardLayout getLayout(VariableOp variable) {
  io::Shape shape = variable.getTensorType().getShape().vec();
  return {shape, shape, io::Shape(shape.size(), 0), io::fileStrides(shape, getPermutation(variable))};
}

static void forEachParameter(ModuleOp module, llvm::function_ref<void(VariableOp)> visit) {
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::Parameter)
      visit(variable);
}

/// A parameter and, unrounded, the master that belongs to it.
static void setParameter(StepInterpreter &train, ModuleOp module, VariableOp parameter, const Tensor &value) {
  train.setVariable(parameter.getSymName(), value);
  for (auto variable : module.getOps<VariableOp>())
    if (variable.getRole() == Role::Master && variable.getOfAttr() == FlatSymbolRefAttr::get(parameter))
      train.setVariable(variable.getSymName(), value);
}

std::map<std::string, Tensor> mlir::par::getParameters(StepInterpreter &train, ModuleOp module) {
  std::map<std::string, Tensor> values = train.getVariables(Role::Parameter);
  for (auto &[name, value] : train.getVariables(Role::Master))
    values[SymbolTable::lookupNearestSymbolFrom<VariableOp>(module,
                                                            StringAttr::get(module.getContext(), name))
               .getOf()
               ->str()] = value;
  return values;
}

static float getInitial(InitAttr init, const io::ShardLayout &layout, uint64_t key, int64_t element) {
  if (init.getZeroRow() == io::firstIndex(layout, element))
    return 0.0f;
  switch (init.getKind()) {
  case InitKind::Normal:
    return static_cast<float>(init.getStd() * io::initialNormal(key, static_cast<uint64_t>(element)));
  case InitKind::Zeros:
    return 0.0f;
  case InitKind::Ones:
    return 1.0f;
  }
  llvm_unreachable("unknown InitKind");
}

void mlir::par::initialiseParameters(StepInterpreter &train, ModuleOp module, uint64_t seed) {
  forEachParameter(module, [&](VariableOp variable) {
    Tensor value(variable.getTensorType());
    std::optional<InitAttr> init = variable.getInit();
    // Without a place in a file the variable's own name makes its random numbers.
    StringRef name = variable.getFile() ? variable.getFile()->getName().getValue() : variable.getSymName();
    uint64_t key = io::initialisationKey(std::string_view(name.data(), name.size()), seed);
    io::ShardLayout layout = getLayout(variable);
    io::forEachRow(layout, [&](const io::ShardRow &row) {
      for (int64_t i = 0; init && i < row.count; ++i)
        value.values[row.local + i] = getInitial(*init, layout, key, row.file + i * row.stride);
    });
    setParameter(train, module, variable, value);
  });
}

io::Status mlir::par::loadParameters(StepInterpreter &train, ModuleOp module, const std::string &path) {
  std::vector<io::NamedShape> wanted;
  llvm::StringSet<> seen;
  io::Status status;
  forEachParameter(module, [&](VariableOp variable) {
    if (!variable.getFile())
      status = io::Status::error("@" + variable.getSymName().str() +
                                 ": the parameter has no place in a file (`file`), so it "
                                 "cannot be loaded from " +
                                 path);
    else if (seen.insert(variable.getFile()->getName().getValue()).second)
      wanted.push_back(getNamedShape(variable));
  });
  PAR_TRY(status);
  io::Weights weights;
  PAR_TRY(weights.open(path));
  PAR_TRY(weights.match(wanted));
  forEachParameter(module, [&](VariableOp variable) {
    Tensor value(variable.getTensorType());
    std::vector<float> buffer;
    io::forEachRow(getLayout(variable), [&](const io::ShardRow &row) {
      buffer.resize(row.count);
      weights.read(variable.getFile()->getName().str(), row.file, row.stride, row.count, buffer.data());
      llvm::copy(buffer, value.values.begin() + row.local);
    });
    setParameter(train, module, variable, value);
  });
  return {};
}

io::Status mlir::par::saveVariables(ModuleOp module, const std::map<std::string, Tensor> &values,
                                    const std::string &path) {
  std::vector<io::NamedShape> shapes;
  std::vector<std::vector<float>> contents;
  llvm::StringSet<> seen;
  for (auto variable : module.getOps<VariableOp>()) {
    auto found = values.find(variable.getSymName().str());
    if (found == values.end())
      continue;
    VariableOp owner = getFileOwner(variable);
    if (!owner)
      return io::Status::error("@" + variable.getSymName().str() +
                               ": neither it nor its owner has a place in a file (`file`)");
    if (!seen.insert(owner.getFile()->getName().getValue()).second)
      continue;
    std::vector<float> &content = contents.emplace_back(found->second.size());
    io::forEachRow(getLayout(owner), [&](const io::ShardRow &row) {
      for (int64_t i = 0; i < row.count; ++i)
        content[row.file + i * row.stride] = static_cast<float>(found->second.values[row.local + i]);
    });
    shapes.push_back(getNamedShape(owner));
  }
  io::SafetensorsWriter writer;
  PAR_TRY(writer.create(path, shapes));
  for (const std::vector<float> &content : contents)
    PAR_TRY(writer.append(content.data(), static_cast<int64_t>(content.size())));
  return writer.commit();
}

io::Status mlir::par::saveTensor(StringRef name, const Tensor &value, const std::string &path) {
  io::SafetensorsWriter writer;
  std::vector<float> content(value.values.begin(), value.values.end());
  PAR_TRY(writer.create(path, {{name.str(), value.shape().vec()}}));
  PAR_TRY(writer.append(content.data(), static_cast<int64_t>(content.size())));
  return writer.commit();
}
