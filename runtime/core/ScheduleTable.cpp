#include "core/ScheduleTable.h"

namespace par::rt {

using Function = void (*)(void *context, void **operands);

static void *pointerOf(const RankContext &context, int64_t word) {
  return (word & 1 ? context.host_arena : context.arena) + (word & ~int64_t(1));
}

static void takeOperands(const RankContext &context, const ScheduleTable &table, const par_entry &entry,
                         const int64_t *patch) {
  for (int32_t i = 0; i < entry.operands; ++i)
    table.operands[i] = pointerOf(context, table.words[entry.row + i]);
  for (int64_t i = 0; i < patch[0]; ++i)
    table.operands[patch[1 + 2 * i]] = pointerOf(context, patch[2 + 2 * i]);
}

static void discard(RankContext &context, const ScheduleTable &table, const par_entry &entry) {
  for (int32_t i = 0; i < entry.discards; ++i) {
    const int64_t *discard = table.words + entry.discard + 2 * i;
    context.device->discard(context.device->fromProgram(table.operands[discard[0]]), size_t(discard[1]));
  }
}

void run(RankContext &context, const ScheduleTable &table) {
  RankProgram &program = *context.program;
  for (int64_t number = 0; number < table.count; ++number) {
    const par_step &step = table.steps[number];
    const par_entry &entry = table.entries[step.entry];
    program.enterAction(int32_t(table.action + number));
    takeOperands(context, table, entry, table.words + step.patch);
    switch (entry.kind) {
    case par_entry_call:
      if (program.sleepsInstead(int32_t(table.action + number)))
        break;
      discard(context, table, entry);
      reinterpret_cast<Function>(table.functions[entry.function])(&context, table.operands);
      break;
    case par_entry_message_start:
      program.startMessage(entry.number, table.operands);
      break;
    case par_entry_message_wait:
      program.waitForMessage(entry.number);
      break;
    case par_entry_collective:
      program.runSum(entry.number, table.operands);
      break;
    default:
      program.refuseEntry(entry.kind);
    }
  }
}

} // namespace par::rt
