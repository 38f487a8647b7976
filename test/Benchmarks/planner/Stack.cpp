//===- Stack.cpp - reads stack files --------------------------------------------------------------------===//
#include "Stack.h"
#include "JsonFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace mlir::par;
namespace json = llvm::json;

namespace {
/// Takes values from an object, each of which must have a line in "sources".
class StackReader {
public:
  StackReader(llvm::StringRef file, const json::Object &object) : file(file), object(object) {}

  double number(llvm::StringRef key, double absent) {
    const json::Value *value = take(key);
    std::optional<double> number = value ? value->getAsNumber() : std::nullopt;
    if (value && (!number || *number < 0))
      complain(key, "is not a number of at least 0");
    return number.value_or(absent);
  }
  bool boolean(llvm::StringRef key, bool absent) {
    const json::Value *value = take(key);
    if (value && !value->getAsBoolean())
      complain(key, "is not true or false");
    return value ? value->getAsBoolean().value_or(absent) : absent;
  }
  std::string text(llvm::StringRef key, llvm::ArrayRef<llvm::StringLiteral> choices) {
    const json::Value *value = take(key);
    std::string text = value ? value->getAsString().value_or("").str() : choices.front().str();
    if (!llvm::is_contained(choices, text))
      complain(key, "is " + text + ", not one of " + llvm::join(choices, ", "));
    return text;
  }
  /// One that a file beside the stack files is about.
  std::string name(llvm::StringRef key, llvm::StringRef absent) {
    const json::Value *value = take(key);
    if (value && !value->getAsString())
      complain(key, "is not a name");
    return value ? value->getAsString().value_or("").str() : absent.str();
  }
  /// Nothing is left that was not taken.
  llvm::Error finish() {
    for (const auto &[key, value] : object)
      if (!known.count(key.str()))
        complain(key, "is unknown");
    return problem.empty() ? llvm::Error::success() : makeError(problem);
  }
  void allow(llvm::StringRef key) { known.insert(key.str()); }

private:
  const json::Value *take(llvm::StringRef key) {
    allow(key);
    const json::Value *value = object.get(key);
    const json::Object *sources = object.getObject("sources");
    if (value && !(sources && sources->getString(key)))
      complain(key, "has no source");
    return value;
  }
  void complain(llvm::StringRef key, const llvm::Twine &what) {
    if (problem.empty())
      problem = (file + ": " + key + " " + what).str();
  }

  llvm::StringRef file;
  const json::Object &object;
  std::set<std::string> known;
  std::string problem;
};
} // namespace

static SavedModel readSaved(StackReader &reader) {
  static constexpr llvm::StringLiteral kWith[] = {"none", "selective"}, kStage[] = {"largest", "first"};
  SavedModel saved;
  saved.wholeBytes = reader.number("saved_whole_bytes", 0);
  saved.splitBytes = reader.number("saved_split_bytes", 0);
  saved.keyBytes = reader.number("saved_key_bytes", 0);
  saved.widthBytes = reader.number("saved_width_bytes", 0);
  saved.scoreBytes = reader.number("saved_score_bytes", 0);
  saved.with = reader.text("saved_with", kWith) == "none" ? RowRecompute::None : RowRecompute::Selective;
  saved.stateBytes = reader.number("state_bytes", 0);
  saved.gradientBytes = reader.number("gradient_bytes", 0);
  saved.heldBytes = reader.number("held_gradient_bytes", 0);
  saved.gatheredBytes = reader.number("gathered_bytes", 0);
  saved.gatheredLayers = reader.number("gathered_layers", 0);
  saved.normBytes = reader.number("saved_norm_bytes", 0);
  saved.wholeTable = reader.boolean("whole_table", false);
  saved.logitBytes = reader.number("logit_bytes", 0);
  saved.splitLogits = reader.boolean("split_logits", false);
  saved.firstStage = reader.text("printed_stage", kStage) == "first";
  saved.reservedShare = reader.number("reserved_share", 1);
  return saved;
}

static std::optional<LayerPasses> readPasses(StackReader &reader) {
  LayerPasses passes;
  passes.forward = {reader.number("forward_whole_passes", 0), reader.number("forward_split_passes", 0)};
  passes.backward = {reader.number("backward_whole_passes", 0), reader.number("backward_split_passes", 0)};
  bool isSaid = passes.forward.count(1, false) + passes.backward.count(1, false) > 0;
  return isSaid ? std::optional(passes) : std::nullopt;
}

/// "fused", "unfused", or a kernel of the folder "attention".
static llvm::Error readAttention(StackReader &reader, llvm::StringRef folder, Stack &stack) {
  std::string name = reader.name("attention", "fused");
  ScoresModel scores{reader.number("score_bytes_forward", 0), reader.number("score_bytes_backward", 0)};
  stack.attentionRate = reader.number("attention_rate", 1);
  if (name == "unfused")
    stack.scores = scores;
  if (name == "fused" || name == "unfused")
    return llvm::Error::success();
  llvm::Expected<AttentionKernel> kernel =
      readAttentionKernel((folder + "/attention/" + name + ".json").str());
  if (!kernel)
    return kernel.takeError();
  stack.attention = std::move(*kernel);
  return llvm::Error::success();
}

static llvm::Expected<Stack> readStack(llvm::StringRef file, const json::Object &object) {
  static constexpr llvm::StringLiteral kTypes[] = {"f32", "bf16"};
  Stack stack;
  StackReader reader(file, object);
  for (const char *key : {"name", "rows", "sources", "efficiency"})
    reader.allow(key);
  stack.name = object.getString("name").value_or("").str();
  if (const json::Array *rows = object.getArray("rows"))
    for (const json::Value &row : *rows)
      stack.groups.push_back(row.getAsString().value_or("").str());
  if (llvm::Error error = readAttention(reader, llvm::sys::path::parent_path(file), stack))
    return error;
  stack.wholeLayers = reader.boolean("whole_layers", false);
  if (SavedModel saved = readSaved(reader); saved.stateBytes > 0)
    stack.saved = saved;
  stack.passes = readPasses(reader);
  stack.lossBytes = reader.number("loss_bytes", 0);
  stack.overlap = reader.boolean("overlap", true);
  stack.overlapTensor = reader.boolean("overlap_tensor", false);
  stack.sequenceFirst = reader.boolean("sequence_first", false);
  stack.blockingTransfers = reader.boolean("blocking_transfers", false);
  stack.hasNoBubble = reader.boolean("no_bubble", false);
  stack.stagesSplitSequence = reader.boolean("stages_split_sequence", true);
  static constexpr llvm::StringLiteral kUnits[] = {"GB", "GiB"};
  stack.isBinary = reader.text("memory_unit", kUnits) == "GiB";
  stack.gradientBytes = reader.text("gradient_type", kTypes) == "bf16" ? 2 : 4;
  stack.accumulatedBytes = reader.number("accumulated_bytes", 0);
  stack.accumulatedBytesF32 = reader.number("accumulated_bytes_f32", 0);
  stack.productsRate = reader.number("products_rate", 1);
  stack.hostTime = 1e-6 * reader.number("host_us", 0);
  stack.launchTime = 1e-6 * reader.number("launch_us", 0);
  stack.forwardLaunches = reader.number("forward_launches", 0);
  stack.backwardLaunches = reader.number("backward_launches", 0);
  stack.splitMessages = reader.boolean("split_messages", false);
  stack.networkShare = reader.number("network_share", 1);
  stack.selectiveLayers = reader.number("selective_layers", 0);
  if (std::optional<double> efficiency = object.getNumber("efficiency"))
    stack.efficiency = *efficiency;
  if (llvm::Error error = reader.finish())
    return error;
  return stack;
}

Stack mlir::par::sumInF32(Stack stack) {
  if (stack.accumulatedBytesF32 > 0) {
    stack.accumulatedBytes = stack.accumulatedBytesF32;
    stack.gradientBytes = 4;
  }
  return stack;
}

llvm::Expected<std::vector<Stack>> mlir::par::readStacks(llvm::StringRef folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator at(folder, code), end; at != end && !code; at.increment(code))
    if (llvm::StringRef(at->path()).ends_with(".json"))
      files.push_back(at->path());
  llvm::sort(files);
  std::vector<Stack> stacks;
  for (const std::string &file : files) {
    llvm::Expected<json::Value> value = readJson(file);
    if (!value)
      return value.takeError();
    if (!value->getAsObject())
      return makeError(file + ": no object");
    llvm::Expected<Stack> stack = readStack(file, *value->getAsObject());
    if (!stack)
      return stack.takeError();
    stacks.push_back(std::move(*stack));
  }
  if (llvm::none_of(stacks, [](const Stack &stack) { return stack.name == "default"; }))
    return makeError(folder + ": there is no stack file with the name default");
  return stacks;
}

const Stack &mlir::par::findStack(llvm::ArrayRef<Stack> stacks, llvm::StringRef group) {
  const Stack *fallback = nullptr;
  for (const Stack &stack : stacks) {
    if (llvm::is_contained(stack.groups, group))
      return stack;
    if (stack.name == "default")
      fallback = &stack;
  }
  return *fallback;
}
