#include "FolderNames.h"
#include "OtherKinds.h"
#include "par/io/Files.h"
#include "par/io/OtherWeights.h"

#include <algorithm>
#include <initializer_list>

namespace par::io {

static std::string firstOf(std::initializer_list<std::string> texts) {
  for (const std::string &text : texts)
    if (!text.empty())
      return text;
  return "";
}

static std::string beginOf(const std::string &path) {
  MappedFile file;
  if (!file.open(path).ok())
    return "";
  return {reinterpret_cast<const char *>(file.data()), std::min<size_t>(file.size(), 4096)};
}

std::string adapterOf(const std::string &folder) {
  FolderNames names(folder);
  if (!names.has("adapter_config.json") && names.beginning("adapter_model.").empty())
    return "";
  return "holds an adapter (LoRA and its kin: adapter_config.json), and no model of its own; merge it into "
         "its model with PEFT: "
         "AutoPeftModelForCausalLM.from_pretrained(DIR).merge_and_unload().save_pretrained(NEW_DIR)";
}

/// MLX calls its config as PEFT does.
static std::string anyAdapter(const FolderNames &names) {
  if (!names.has("adapters.safetensors"))
    return adapterOf(names.folder());
  return "holds an adapter of MLX (adapters.safetensors), and no model of its own; merge it into its model "
         "with mlx_lm.fuse --model MODEL --adapter-path DIR --save-path NEW_DIR";
}

/// The folder of DeepSpeed's last step, which may have any name: its file `latest` says it.
static std::string lastStep(const FolderNames &names) {
  std::string text = beginOf(names.pathOf("latest"));
  text = text.substr(0, text.find_first_of("\r\n \t"));
  return text.size() > 255 || text.find('/') != std::string::npos ? "" : text;
}

static bool hasStates(const FolderNames &names) {
  return !names.ending("model_states.pt").empty() || !names.ending("optim_states.pt").empty();
}

/// A file per layer, which DeepSpeed's own script does not join.
static bool hasLayers(const FolderNames &names) {
  std::string layer = names.beginning("layer_");
  return !layer.empty() && endsInAnyCase(layer, "-model_states.pt");
}

static std::string deepSpeed(const FolderNames &names) {
  if (names.has("latest_universal"))
    return "holds a universal checkpoint of DeepSpeed; join the weights of the one that it was made from "
           "with "
           "its own script: python zero_to_fp32.py DIR NEW_DIR --safe_serialization";
  std::string last = lastStep(names);
  std::string step = !last.empty() && isFolder(names.pathOf(last)) ? last : names.beginning("global_step");
  FolderNames inner(step.empty() ? names.folder() : names.pathOf(step));
  if (hasLayers(names) || hasLayers(inner))
    return "holds a checkpoint of DeepSpeed's pipelines, a file per layer, as GPT-NeoX writes it; convert it "
           "with the program that wrote it, of GPT-NeoX with python tools/ckpts/convert_neox_to_hf.py "
           "--input_dir DIR --config_file CONFIG --output_dir NEW_DIR";
  if (!names.has("zero_to_fp32.py") && !hasStates(names) && !hasStates(inner) &&
      last.compare(0, 11, "global_step") != 0)
    return "";
  return "holds a checkpoint of DeepSpeed, whose ranks have a part of the weights each; join them with its "
         "own script: python zero_to_fp32.py DIR NEW_DIR --safe_serialization";
}

static bool hasParts(const FolderNames &names) { return !names.ending(".distcp").empty(); }

static bool isMegatron(const FolderNames &names) {
  std::string step = names.beginning("iter_");
  FolderNames inner(step.empty() ? names.folder() : names.pathOf(step));
  bool isStep = !step.empty() && (hasParts(inner) || !inner.beginning("mp_rank_").empty());
  return isStep || names.has("latest_checkpointed_iteration.txt") || !names.beginning("mp_rank_").empty() ||
         (names.has("common.pt") && hasParts(names));
}

static std::string megatron(const FolderNames &names) {
  return isMegatron(names) ? "holds a checkpoint of Megatron; convert it to Transformers' form with Megatron "
                             "Bridge, or with "
                             "tools/checkpoint/convert.py of Megatron-LM"
                           : "";
}

static std::string nemo(const FolderNames &names) {
  return names.has("context") && hasParts(FolderNames(names.pathOf("weights")))
             ? "holds a checkpoint of NeMo; convert it to Transformers' form with NeMo's "
               "llm.export_ckpt(DIR, "
               "target=\"hf\", output_path=NEW_DIR)"
             : "";
}

static std::string distributed(const FolderNames &names) {
  std::string inner = names.beginning("pytorch_model_fsdp");
  bool isInner = !inner.empty() && isFolder(names.pathOf(inner));
  if (names.has(".metadata") && !hasParts(names) && !isInner)
    return "holds .metadata of a checkpoint of torch.distributed.checkpoint, but none of its .distcp files, "
           "which have the weights; fetch these, too";
  if (!hasParts(names) && !isInner)
    return "";
  return "holds a checkpoint of torch.distributed.checkpoint (.distcp, also Megatron's and FSDP's); join "
         "it with python -m torch.distributed.checkpoint.format_utils dcp_to_torch DIR FILE "
         "(dcp_to_torch_save in Python), or of FSDP with accelerate merge-weights DIR NEW_DIR, and save the "
         "tensors with safetensors.torch.save_file";
}

static std::string trainersFolder(const FolderNames &names) {
  return firstOf({deepSpeed(names), megatron(names), nemo(names), distributed(names)});
}

static std::string pickledFolder(const FolderNames &names) {
  for (const char *pickled : {"pytorch_model.bin", "pytorch_model.bin.index.json"})
    if (names.has(pickled))
      return std::string("has its weights as ") + pickled +
             ", which only Python reads; convert them with Transformers: "
             "AutoModelForCausalLM.from_pretrained(DIR).save_pretrained(NEW_DIR)";
  if (!names.beginning("consolidated.").empty() || names.has("params.json"))
    return "holds a model in Meta's or Mistral's own form; convert it with Transformers' script for the "
           "model, or download it in Transformers' form";
  return "";
}

/// Files of other kinds, by what they are called. Tokens and much else are .bin, too, so there its bytes
/// decide.
static std::string foreignFile(const FolderNames &names) {
  std::string name = names.find([](const std::string &name) { return !kindByEnding(name).empty(); });
  if (!name.empty())
    return "has no safetensors; its " + name + " " + kindByEnding(name);
  name = names.ending(".bin");
  std::string kind = name.empty() ? "" : otherWeightsFile(name, beginOf(names.pathOf(name)));
  return kind.empty() ? "" : "has no safetensors; its " + name + " " + kind;
}

static std::string looseSafetensors(const FolderNames &names) {
  std::string one = names.ending(".safetensors");
  std::string another =
      names.find([&](const std::string &name) { return endsInAnyCase(name, ".safetensors") && name != one; });
  if (one.empty())
    return "";
  if (another.empty() && one.find("-of-") == std::string::npos)
    return "has no model.safetensors, but " + one + "; give that file";
  return "has parts of a model (" + one +
         "), but no model.safetensors.index.json, which says what is in which; fetch that, too";
}

static std::string cacheFolder(const FolderNames &names) {
  if (!names.has("snapshots"))
    return "";
  std::string snapshot = FolderNames(names.pathOf("snapshots")).beginning("");
  return "is a folder of Hugging Face's cache; give the model within it: " + names.pathOf("snapshots") + "/" +
         snapshot;
}

static std::string modelBelow(const FolderNames &names) {
  std::string last;
  for (const std::string &name : names.folders())
    for (const char *file : {"/model.safetensors", "/model.safetensors.index.json"})
      if (isFile(names.pathOf(name) + file))
        last = name;
  return last.empty() ? "" : "has no weights, but its folder " + last + " has; give " + names.pathOf(last);
}

/// Trainers write a folder per step, and PEFT one per adapter.
static std::string otherBelow(const FolderNames &names) {
  std::string last;
  for (const std::string &name : names.folders()) {
    FolderNames inner(names.pathOf(name));
    std::string kind = firstOf({anyAdapter(inner), trainersFolder(inner), pickledFolder(inner)});
    if (!kind.empty())
      last = "has no weights, but its folder " + name + " " + kind;
  }
  return last;
}

std::string otherModelFolder(const std::string &folder) {
  FolderNames names(folder);
  return firstOf({anyAdapter(names), trainersFolder(names), pickledFolder(names), cacheFolder(names)});
}

std::string otherWeightsFolder(const std::string &folder) {
  FolderNames names(folder);
  return firstOf({otherModelFolder(folder), looseSafetensors(names), modelBelow(names), otherBelow(names),
                  foreignFile(names)});
}

} // namespace par::io
