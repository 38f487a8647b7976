/// The files of a Hugging Face folder beside config and weights.
#ifndef PAR_IO_MODELFILES_H
#define PAR_IO_MODELFILES_H

namespace par::io {

/// What tokenizers and generation need; each may be absent. Packages keep them, exported models get them.
constexpr const char *companionFiles[] = {"tokenizer.json",
                                          "tokenizer_config.json",
                                          "special_tokens_map.json",
                                          "added_tokens.json",
                                          "vocab.json",
                                          "merges.txt",
                                          "tokenizer.model",
                                          "chat_template.jinja",
                                          "generation_config.json"};

} // namespace par::io
#endif
