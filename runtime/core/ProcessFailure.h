/// How a job whose ranks are processes ends early: rank 0 says it once for all.
#ifndef PAR_CORE_PROCESSFAILURE_H
#define PAR_CORE_PROCESSFAILURE_H

#include "comm/process/ProcessWorld.h"
#include "core/Failure.h"

#include <functional>

namespace par::rt {

/// Before the first step, from when the ranks have met. The first caller reports, others wait for the end.
class StartFailure {
public:
  StartFailure(comm::Control &control, int rank) : control(control), rank(rank) {}
  comm::Control::Events events();
  /// This process found out that the job cannot begin.
  [[noreturn]] void end(const std::string &message);
  /// Rank 0 found the same reason: waits for it to say so.
  [[noreturn]] void leaveToRank0();

private:
  [[noreturn]] void endHere(const std::string &message);
  comm::Control &control;
  const int rank;
  std::mutex mutex;
};

/// While steps run.
class ProcessFailure : public Failure {
public:
  ProcessFailure(ProgressBoard &board, comm::ProcessWorld &world, const Manifest &manifest);
  comm::Control::Events events();
  [[noreturn]] void end(int culprit, const std::string &message) override;
  /// What is told of this rank's devices when a job ends early, and how their waits are ended. Before
  /// `events`.
  void setDevices(std::function<std::string()> record, std::function<void()> stop) {
    recordOfDevices = std::move(record), stopDevices = std::move(stop);
  }

protected:
  void beforeExit() override;

private:
  [[noreturn]] void endNow(int culprit, const std::string &message);
  [[noreturn]] void lost(int culprit, const std::string &why);
  void showBeat(int rank, const comm::Beat &beat);
  std::string lastPlace(int rank);
  void endDevices();

  ProgressBoard &places;
  comm::ProcessWorld &world;
  const Manifest &manifest;
  const int rank;
  std::vector<comm::Clock::time_point> heard; ///< when a beat came, by rank; at rank 0
  std::function<std::string()> recordOfDevices;
  std::function<void()> stopDevices;
};

} // namespace par::rt
#endif
