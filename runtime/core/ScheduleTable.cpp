#include "core/ScheduleTable.h"

namespace par::rt {

using Function = void (*)(void *context, void **operands);

static void *pointerOf(const RankContext &context, int64_t word) {
  return (word & 1 ? context.host_arena : context.arena) + (word & ~int64_t(1));
}

static void takeOperands(const RankContext &context, const ScheduleTable &table, const par_entry &entry) {
  for (int32_t i = 0; i < entry.operands; ++i)
    table.operands[i] = pointerOf(context, table.words[entry.row + i]);
  for (int32_t i = 0; i < entry.patches; ++i) {
    const int64_t *patch = table.words + entry.patch + 2 * i;
    table.operands[patch[0]] = pointerOf(context, patch[1]);
  }
}

static void discard(RankContext &context, const ScheduleTable &table, const par_entry &entry) {
  for (int32_t i = 0; i < entry.discards; ++i) {
    const int64_t *discard = table.words + entry.discard + 2 * i;
    context.device->discard(context.device->fromProgram(table.operands[discard[0]]), size_t(discard[1]));
  }
}

void run(RankContext &context, const ScheduleTable &table) {
  RankProgram &program = *context.program;
  for (const par_entry *entry = table.entries; entry != table.entries + table.count; ++entry) {
    program.enterAction(entry->action);
    takeOperands(context, table, *entry);
    switch (entry->kind) {
    case par_entry_call:
      discard(context, table, *entry);
      reinterpret_cast<Function>(table.functions[entry->function])(&context, table.operands);
      break;
    case par_entry_message_start:
      program.startMessage(entry->number, table.operands);
      break;
    case par_entry_message_wait:
      program.waitForMessage(entry->number);
      break;
    case par_entry_collective:
      program.runCollective(entry->number, table.operands);
      break;
    default:
      program.refuseEntry(entry->kind);
    }
  }
}

} // namespace par::rt
