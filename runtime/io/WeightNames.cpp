#include "WeightNames.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace par::io {

static bool endsWith(const std::string &text, const char *suffix) {
  size_t length = std::strlen(suffix);
  return text.size() >= length && text.compare(text.size() - length, length, suffix) == 0;
}

static bool isWrapper(const std::string &component) {
  for (const char *name : {"_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"})
    if (component == name)
      return true;
  return false;
}

std::string plainName(const std::string &name) {
  std::string plain;
  for (size_t begin = 0, end; begin < name.size(); begin = end) {
    end = std::min(name.find('.', begin), name.size() - 1) + 1;
    bool isLast = end == name.size();
    if (isLast || !isWrapper(name.substr(begin, end - begin - 1)))
      plain += name.substr(begin, end - begin);
  }
  // Files of a model without its head (GPT-2's published ones, a LlamaModel's) have names without the prefix
  // that save_pretrained writes for the model with it; a model of pictures and text holds that of text
  // inside.
  const char *const prefixes[] = {"language_model.", "transformer.", "model."};
  auto strip = [&] {
    return std::any_of(std::begin(prefixes), std::end(prefixes), [&](const char *prefix) {
      bool isThere = plain.rfind(prefix, 0) == 0;
      plain.erase(0, isThere ? std::strlen(prefix) : 0);
      return isThere;
    });
  };
  // "model.language_model." and "language_model.model." are two.
  for (int i = 0; i < 2 && strip(); ++i) {
  }
  return plain;
}

bool isBuffer(const std::string &plain) {
  return endsWith(plain, ".attn.bias") || endsWith(plain, ".attn.masked_bias") ||
         endsWith(plain, "rotary_emb.inv_freq");
}

bool isOfPictures(const std::string &plain) {
  return plain.rfind("vision_tower.", 0) == 0 || plain.rfind("multi_modal_projector.", 0) == 0;
}

const char quantised[] =
    "quantised weights are not read; give the model that they were made from, or make floats of "
    "them with Transformers: AutoModelForCausalLM.from_pretrained(DIR).dequantize()"
    ".save_pretrained(NEW_DIR)";

const char adapterTensor[] =
    "belongs to an adapter (LoRA and its kin), which is not read; merge it into its model with PEFT: "
    "AutoPeftModelForCausalLM.from_pretrained(DIR).merge_and_unload().save_pretrained(NEW_DIR)";

/// These names are of PEFT's adapters, MLX's (lora_a), and those for pictures (lora_down).
static bool isOfAdapter(const std::string &name) {
  for (size_t begin = 0, end; begin < name.size(); begin = end + 1) {
    end = std::min(name.find('.', begin), name.size());
    std::string part = name.substr(begin, end - begin);
    for (const char *first : {"lora_", "ia3_", "hada_", "lokr_", "oft_", "vera_lambda_"})
      if (part.rfind(first, 0) == 0)
        return true;
    if (part == "base_layer")
      return true;
  }
  return false;
}

std::string kindByName(const std::string &name) {
  // GPTQ and AWQ, compressed-tensors, FP8, LLM.int8, bitsandbytes, MXFP4.
  for (const char *suffix : {".qweight", ".qzeros", ".scales", ".weight_packed", ".weight_scale",
                             ".weight_scale_inv", ".SCB", ".weight.absmax", ".weight.quant_map", "_blocks"})
    if (endsWith(name, suffix))
      return quantised;
  if (isOfAdapter(name))
    return adapterTensor;
  if (name == "tok_embeddings.weight")
    return "is a name of Meta's and Mistral's own files, which are not read; convert them with Transformers' "
           "script for the model, or give the model in Transformers' form";
  return "";
}

/// Letters to insert, remove or replace.
static size_t distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

/// Parts between dots in which both end.
static size_t commonParts(const std::string &a, const std::string &b) {
  size_t parts = 0, at = 0;
  for (; at < a.size() && at < b.size() && a[a.size() - 1 - at] == b[b.size() - 1 - at]; ++at)
    parts += a[a.size() - 1 - at] == '.';
  auto ends = [at](const std::string &name) {
    return at == name.size() || name[name.size() - 1 - at] == '.';
  };
  return parts + (at > 0 && ends(a) && ends(b));
}

const std::string *nearestName(const std::string &wanted, const std::vector<std::string> &names) {
  constexpr size_t longest = 512; // a name beyond that is near to none
  const std::string *nearest = nullptr;
  size_t least = 0, most = 0;
  for (const std::string &name : names) {
    size_t parts = commonParts(wanted, name);
    if (nearest && parts < most)
      continue;
    size_t far =
        name.size() > longest || wanted.size() > longest ? longest + name.size() : distance(wanted, name);
    if (!nearest || parts > most || far < least)
      nearest = &name, least = far, most = parts;
  }
  return nearest;
}

} // namespace par::io
