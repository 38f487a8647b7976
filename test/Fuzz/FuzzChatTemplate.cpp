// Chat templates: any text is a template or refused by its line, and what is one writes a text or is refused.
#include "Fuzz.h"
#include "chat/TemplateEvaluator.h"
#include "chat/TemplateLexer.h"

using namespace par;
using chat::Json;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Json messages =
      Json::array({{{"role", "user"}, {"content", " a\u00e9 "}}, {{"role", "assistant"}, {"content", "b"}}});
  Json variables = {{"messages", messages},
                    {"tools", nullptr},
                    {"bos_token", "<s>"},
                    {"eos_token", "</s>"},
                    {"add_generation_prompt", true}};
  try {
    chat::evaluate(chat::parseTemplate({reinterpret_cast<const char *>(data), size}), variables);
  } catch (const chat::TemplateError &) {
  } catch (const nlohmann::json::exception &) { // a text that is no UTF-8
  }
  return 0;
}
