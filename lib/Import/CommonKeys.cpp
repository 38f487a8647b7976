//===- CommonKeys.cpp - keys of every configuration class -----------------------------------------------===//
// `PretrainedConfig.to_dict()` of Transformers 4 and 5, sorted by whether a
// key can change what a training step computes.

#include "par/Import/Family.h"

using namespace llvm;

namespace mlir::par {

// How the model is stored, named, prompted or sampled from.
static const StringRef describing[] = {
    "_attn_implementation", "_attn_implementation_autoset", "_attn_implementation_internal", "_commit_hash",
    "_name_or_path", "_experts_implementation", "_flash_attn_2_enabled", "architectures",
    "attn_implementation", "bad_words_ids", "base_model_ep_plan", "base_model_pp_plan", "base_model_tp_plan",
    "begin_suppress_tokens", "bos_token_id", "decoder_start_token_id", "diversity_penalty", "do_sample",
    "dtype", "early_stopping", "encoder_no_repeat_ngram_size", "eos_token_id",
    "exponential_decay_length_penalty", "finetuning_task", "forced_bos_token_id", "forced_eos_token_id",
    "generation_config", "gradient_checkpointing", "id2label", "ignore_keys_at_rope_validation",
    // A causal language model is a decoder either way.
    "is_decoder", "keys_to_ignore_at_inference", "label2id", "length_penalty", "max_length", "min_length",
    "model_max_length", "model_type", "no_repeat_ngram_size", "num_beam_groups", "num_beams", "num_labels",
    "num_return_sequences", "output_attentions", "output_hidden_states", "output_scores", "prefix",
    "problem_type", "remove_invalid_values", "repetition_penalty", "return_dict", "return_dict_in_generate",
    "sep_token_id", "suppress_tokens", "task_specific_params", "temperature", "tf_legacy_loss",
    "tokenizer_class", "top_k", "top_p", "torch_dtype", "torchscript", "transformers_version", "typical_p",
    "unsloth_fixed", "unsloth_version", "use_bfloat16", "use_cache"};

void readCommonKeys(ConfigReader &reader) {
  reader.harmless(describing);
  reader.only("is_encoder_decoder", false, "adds an encoder");
  reader.only("add_cross_attention", false, "adds cross-attention layers");
  reader.only("tie_encoder_decoder", false, "ties an encoder's weights");
  // Splits the MLP over the sequence: the same numbers, but only 0 is common.
  reader.only("chunk_size_feed_forward", 0, "computes the MLP in chunks");
  reader.absent("cross_attention_hidden_size", "adds cross-attention layers");
  reader.absent("pruned_heads", "removes attention heads");
  reader.absent("auto_map", "runs Python code that comes with the model");
}

} // namespace mlir::par
