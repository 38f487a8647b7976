#include "core/EntryPoints.h"

#include "core/RankProgram.h"
#include "core/ScheduleTable.h"
#include "par/runtime.h"

namespace par::rt {

void keepEntryPoints() {
#define PAR_ENTRY(name, result, ...) reinterpret_cast<void *>(name),
  static void *const volatile entryPoints[] = {
#include "par/EntryPoints.def"
  };
  (void)entryPoints[0];
}

static RankProgram &programOf(void *context) {
  return *static_cast<RankContext *>(static_cast<par_context *>(context))->program;
}

} // namespace par::rt

extern "C" void par_action(void *context, int32_t action) { par::rt::programOf(context).enterAction(action); }

extern "C" void par_run(void *context, void *steps, int64_t count, int64_t action, void *entries, void *words,
                        void *functions, void *operands) {
  par::rt::run(*static_cast<par::rt::RankContext *>(static_cast<par_context *>(context)),
               {static_cast<const par_step *>(steps), count, action, static_cast<const par_entry *>(entries),
                static_cast<const int64_t *>(words), static_cast<void *const *>(functions),
                static_cast<void **>(operands)});
}

extern "C" void par_work(void *context, int32_t work) { par::rt::programOf(context).enterWork(work); }

extern "C" void par_collective(void *context, int32_t collective, void *buffers) {
  par::rt::programOf(context).runCollective(collective, static_cast<void *const *>(buffers));
}

extern "C" void par_collective_start(void *context, int32_t collective, void *buffers) {
  par::rt::programOf(context).startCollective(collective, static_cast<void *const *>(buffers));
}

extern "C" void par_collective_wait(void *context, int32_t collective) {
  par::rt::programOf(context).waitForCollective(collective);
}

extern "C" void par_message_start(void *context, int32_t message, void *buffers) {
  par::rt::programOf(context).startMessage(message, static_cast<void *const *>(buffers));
}

extern "C" void par_message_wait(void *context, int32_t message) {
  par::rt::programOf(context).waitForMessage(message);
}

extern "C" void par_launch(void *context, int32_t kernel, void *buffers) {
  par::rt::programOf(context).launchKernel(kernel, static_cast<void *const *>(buffers));
}

extern "C" void par_product_call(void *context, int32_t product, void *buffers, void *beta) {
  par::rt::programOf(context).multiply(product, static_cast<void *const *>(buffers), beta);
}

extern "C" void par_attention_call(void *context, int32_t attention, void *buffers) {
  par::rt::programOf(context).attend(attention, static_cast<void *const *>(buffers));
}

extern "C" int64_t par_transfer_start(void *context, void *destination, void *source, int64_t bytes) {
  return par::rt::programOf(context).startTransfer(destination, source, bytes);
}

extern "C" void par_transfer_wait(void *context, int64_t ticket) {
  par::rt::programOf(context).waitForTransfer(ticket);
}
