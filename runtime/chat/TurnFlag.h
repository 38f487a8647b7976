/// The flag of all tools that write conversations.
#ifndef PAR_CHAT_TURNFLAG_H
#define PAR_CHAT_TURNFLAG_H

#include "chat/TurnFormat.h"
#include "flags/Flags.h"

namespace par::chat {

/// --turn ROLE=TEMPLATE, which may be given several times.
void addTurnFlag(flags::Flags &flags, TurnFormat &turns);

} // namespace par::chat
#endif
