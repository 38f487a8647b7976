//===- OpenInputs.cpp - inputs with names of a graph's own, from files ----------------------------------===//
#include "par/Interpreter/OpenInputs.h"
#include "par/Dialect/Rank/IR/Rank.h"

using namespace mlir;
using namespace mlir::par;
namespace io = ::par::io;

OpenInputs::OpenInputs(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      if (PlaceAttr place = getPlace(function, argument); place && place.getOpenInput())
        add(place.getInputName(), getGlobalType(function, argument), place.getInputReader());
  module.walk([&](rank::SlotOp slot) {
    if (slot.getReader())
      add(slot.getName(), cast<RankedTensorType>(*slot.getGlobalType()), *slot.getReader());
  });
}

void OpenInputs::add(StringRef name, RankedTensorType type, StringRef reader) {
  List &list = reader == "rows" ? ofRows : ofValues;
  if (llvm::any_of(list.inputs, [&](const io::OpenInput &input) { return input.name == name; }))
    return;
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  list.inputs.push_back({name.str(), element, type.getShape().vec()});
  list.types.push_back(type);
}

io::Status OpenInputs::open(const io::DataOptions &data, const std::vector<std::string> &given,
                            uint64_t seed) {
  if (ofRows.inputs.empty() && !data.rows.empty())
    return io::Status::error("--data " + data.rows.front() +
                             ": the graph has no input that is read in rows; leave "
                             "it out");
  if (!ofRows.inputs.empty() && data.rows.empty())
    return io::Status::error("the graph reads " + io::toString(ofRows.inputs) +
                             " in rows; give --data FILE.safetensors");
  PAR_TRY(rows.open(data.rows, ofRows.inputs, data.shuffle, seed));
  return values.open(given, ofValues.inputs);
}

/// Elements of a tensor or of some of its rows, from `to` on.
static void read(Tensor &tensor, const io::OpenInput &input, const unsigned char *bytes, int64_t to,
                 int64_t count) {
  int64_t width = io::bytesOfInput(input.type);
  for (int64_t i = 0; i < count; ++i)
    tensor.values[to + i] = io::inputElement(input.type, bytes + i * width);
}

void OpenInputs::fill(TrainStep &step, int64_t first, int64_t batch, int64_t microBatches) const {
  for (auto [number, input] : llvm::enumerate(ofRows.inputs))
    for (int64_t microBatch = 0; microBatch < microBatches; ++microBatch) {
      Tensor &tensor = step.openInputs[input.name].emplace_back(ofRows.types[number]);
      int64_t count = rows.rowElements(number);
      for (int64_t row = 0; row < input.shape.front(); ++row)
        read(tensor, input, rows.row(number, first + microBatch * batch + row), row * count, count);
    }
  for (auto [number, input] : llvm::enumerate(ofValues.inputs)) {
    Tensor &tensor = step.openInputs[input.name].emplace_back(ofValues.types[number]);
    read(tensor, input, values.value(number).data(), 0, tensor.size());
  }
}
