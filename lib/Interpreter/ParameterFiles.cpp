//===- ParameterFiles.cpp - parameters from and to files ------------------------------------------------===//
#include "par/Interpreter/ParameterFiles.h"
#include "par/Dialect/Par/IR/FilePlaces.h"
#include "par/io/FileTensors.h"
#include "par/io/Philox.h"
#include "par/io/Weights.h"

using namespace mlir;
using namespace mlir::par;
namespace io = ::par::io;

static io::Shape getShape(VariableOp variable) { return variable.getTensorType().getShape().vec(); }

/// The whole variable as one shard.
static io::Shard getWhole(VariableOp variable) {
  io::Shape shape = getShape(variable);
  return {shape, io::Shape(shape.size(), 0)};
}

/// The parameter whose file a variable belongs to: itself or its owner; null if it has no file.
static VariableOp getFileOwner(VariableOp variable) {
  if (FlatSymbolRefAttr owner = variable.getOfAttr())
    variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(variable, owner);
  return variable && variable.getFile() ? variable : VariableOp();
}

/// A variable without a place has one as if a tensor of its own name were its file's.
static io::FilePlace getPlaceInFiles(VariableOp variable) {
  return variable.getFile() ? getFilePlace(variable)
                            : io::wholePlace(variable.getSymName().str(), getShape(variable));
}

/// Elements of the whole variable and of the files' tensors.
static void forEachRow(VariableOp variable, const io::TensorPart &part,
                       llvm::function_ref<void(const io::ShardRow &)> visit) {
  io::forEachRow(io::layoutOf(getWhole(variable), part), [&](const io::ShardRow &row) { visit(row); });
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

/// Of element `place` of a file's tensor, which has index `first` in the variable's dimension 0.
static float getInitial(InitAttr init, int64_t first, uint64_t key, int64_t place) {
  if (init.getZeroRow() == first)
    return 0.0f;
  switch (init.getKind()) {
  case InitKind::Normal:
    return static_cast<float>(init.getStd() * io::initialNormal(key, static_cast<uint64_t>(place)));
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
    for (const io::TensorPart &part : io::partsOf(getPlaceInFiles(variable), getShape(variable))) {
      uint64_t key = io::initialisationKey(part.name, seed);
      forEachRow(variable, part, [&](const io::ShardRow &row) {
        for (int64_t i = 0; init && i < row.count; ++i)
          value.values[row.local + i] = getInitial(*init, io::firstIndex(getWhole(variable), row.local + i),
                                                   key, row.file + i * row.stride);
      });
    }
    setParameter(train, module, variable, value);
  });
}

io::Status mlir::par::loadParameters(StepInterpreter &train, ModuleOp module, const std::string &path) {
  std::vector<io::PlacedVariable> variables;
  io::Status status;
  forEachParameter(module, [&](VariableOp variable) {
    if (!variable.getFile())
      status = io::Status::error("@" + variable.getSymName().str() +
                                 ": the parameter has no place in a file (`file`), so it "
                                 "cannot be loaded from " +
                                 path);
    variables.push_back({variable.getSymName().str(), getShape(variable), getPlaceInFiles(variable)});
  });
  PAR_TRY(status);
  std::vector<io::FileTensor> tensors;
  PAR_TRY(io::collectTensors(variables, tensors));
  io::Weights weights;
  PAR_TRY(weights.open(path));
  PAR_TRY(weights.match(io::shapesOf(tensors)));
  forEachParameter(module, [&](VariableOp variable) {
    Tensor value(variable.getTensorType());
    std::vector<float> buffer;
    io::FilePlace place = getPlaceInFiles(variable);
    for (const io::TensorPart &part : io::partsOf(place, getShape(variable)))
      forEachRow(variable, part, [&](const io::ShardRow &row) {
        buffer.resize(row.count);
        weights.read(part.name, row.file, row.stride, row.count, buffer.data());
        for (int64_t i = 0; i < row.count; ++i)
          value.values[row.local + i] = io::fromFile(place, buffer[i]);
      });
    setParameter(train, module, variable, value);
  });
  return {};
}

/// A tensor of the files from the variables that hold it.
static std::vector<float> buildTensor(const io::FileTensor &tensor, ArrayRef<VariableOp> variables,
                                      const std::map<std::string, Tensor> &values) {
  std::vector<float> content(io::elementCount(tensor.tensor.shape));
  for (const io::FileTensor::Use &use : tensor.uses) {
    VariableOp variable = variables[use.variable];
    const Tensor &value = values.at(variable.getSymName().str());
    io::FilePlace place = getPlaceInFiles(getFileOwner(variable));
    bool hasOffset = variable.getRole() == Role::Parameter;
    forEachRow(variable, use.part, [&](const io::ShardRow &row) {
      for (int64_t i = 0; i < row.count; ++i) {
        auto element = static_cast<float>(value.values[row.local + i]);
        content[row.file + i * row.stride] = hasOffset ? io::toFile(place, element) : element;
      }
    });
  }
  return content;
}

io::Status mlir::par::saveVariables(ModuleOp module, const std::map<std::string, Tensor> &values,
                                    const std::string &path) {
  SmallVector<VariableOp> variables;
  std::vector<io::PlacedVariable> places;
  for (auto variable : module.getOps<VariableOp>()) {
    if (!values.count(variable.getSymName().str()))
      continue;
    VariableOp owner = getFileOwner(variable);
    if (!owner)
      return io::Status::error("@" + variable.getSymName().str() +
                               ": neither it nor its owner has a place in a file (`file`)");
    variables.push_back(variable);
    places.push_back({variable.getSymName().str(), getShape(variable), getPlaceInFiles(owner)});
  }
  std::vector<io::FileTensor> tensors;
  PAR_TRY(io::collectTensors(places, tensors));
  PAR_TRY(io::checkComplete(places, tensors));
  io::SafetensorsWriter writer;
  PAR_TRY(writer.create(path, io::shapesOf(tensors)));
  for (const io::FileTensor &tensor : tensors) {
    std::vector<float> content = buildTensor(tensor, variables, values);
    PAR_TRY(writer.append(content.data(), static_cast<int64_t>(content.size())));
  }
  return writer.commit();
}

io::Status mlir::par::saveTensor(StringRef name, const Tensor &value, const std::string &path) {
  io::SafetensorsWriter writer;
  std::vector<float> content(value.values.begin(), value.values.end());
  PAR_TRY(writer.create(path, {{name.str(), value.shape().vec()}}));
  PAR_TRY(writer.append(content.data(), static_cast<int64_t>(content.size())));
  return writer.commit();
}
