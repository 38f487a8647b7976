// manifest.json: any text is read or refused with a message, and what is not refused can be prepared to run:
// in an arena as large as any of its schedules says, constants, variables, inputs and outputs are where there
// is memory.
#include "Fuzz.h"
#include "JsonMutator.h"
#include "comm/local/LocalTransport.h"
#include "core/Error.h"
#include "core/Inputs.h"
#include "core/Manifest.h"
#include "core/RankProgram.h"
#include "core/Variables.h"

using namespace par;

namespace {
struct NoRows : rt::RowSource {
  bool read(int64_t, int32_t *, int32_t *) const override { return false; }
};
} // namespace

/// Whether memory and time for it are small.
static bool isSmall(const rt::Manifest &manifest) {
  constexpr int64_t most = 1 << 20;
  return std::all_of(manifest.programs.begin(), manifest.programs.end(),
                     [](const rt::Program &program) {
                       return program.arenaBytes <= most && program.hostArenaBytes <= most;
                     }) &&
         manifest.batch <= most / 1024 && manifest.sequence <= most && manifest.worldSize <= 64;
}

static void prepareRank(const rt::Manifest &manifest, int rank, int64_t arenaBytes) {
  rt::ProgressBoard board(manifest);
  rt::Failure failure(board);
  rt::Fault fault;
  comm::LocalWorld world(manifest.worldSize);
  std::unique_ptr<comm::Transport> transport = world.connect(rank);
  rt::RankProgram program(manifest, board, failure, fault, *transport, rank);
  program.prepare(arenaBytes, 1);
  rt::initialiseVariables(manifest, rank, program.arenas(), {});
  rt::BatchWriter(manifest, rank).write(program.arenas(), NoRows());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text(reinterpret_cast<const char *>(data), size);
  try {
    rt::parseHead("manifest.json", text);
    rt::Manifest manifest = rt::parseManifest("manifest.json", text);
    rt::checkManifest(manifest);
    rt::checkInputs(manifest);
    for (int rank : {0, manifest.worldSize - 1})
      for (const rt::ManifestSchedule &schedule : manifest.programOf(rank).schedules)
        if (isSmall(manifest))
          prepareRank(manifest, rank, schedule.arenaBytes);
  } catch (const rt::Error &) {
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateJson(data, size, maxSize, seed);
}
