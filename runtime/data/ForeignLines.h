/// Lines of other formats of instruction data, as lines with "messages".
#ifndef PAR_DATA_FOREIGNLINES_H
#define PAR_DATA_FOREIGNLINES_H

#include "chat/Messages.h"

namespace par::data {

enum class LineFormat { messages, sharegpt, alpaca };

/// {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}], "system": "…"}
io::Status fromShareGpt(const chat::Json &line, chat::LeftOut &leftOut, chat::Json &messages);
/// {"instruction": "…", "input": "…", "output": "…", "system": "…"}: of input there may be none.
io::Status fromAlpaca(const chat::Json &line, chat::LeftOut &leftOut, chat::Json &messages);

} // namespace par::data
#endif
