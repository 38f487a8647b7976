//===- TimeTerms.h - what seconds of a step are spent on --------------------------------------*- C++ -*-===//
#ifndef PAR_COST_TIMETERMS_H
#define PAR_COST_TIMETERMS_H

namespace mlir::par {

/// Seconds that follow each other on one rank: their sum is what it takes.
struct TimeTerms {
  double products = 0, attention = 0;
  double kernels = 0;    ///< all that is bound by memory
  double contention = 0; ///< what computing loses beside collectives
  double tensor = 0;     ///< waiting for collectives among ranks of tensor parallelism
  double data = 0;       ///< waiting for all other collectives
  double transfers = 0;  ///< waiting for copies between device and host
  double host = 0;       ///< waiting for the host to issue ops
  double pipeline = 0;   ///< waiting for other stages: bubbles, messages, sums over stages

  /// Calls `see(name, member of each…)` for all of them.
  template <typename See, typename... Terms>
  static void visit(See &&see, Terms &&...terms) {
    see("products", terms.products...);
    see("attention", terms.attention...);
    see("kernels", terms.kernels...);
    see("contention", terms.contention...);
    see("tensor", terms.tensor...);
    see("data", terms.data...);
    see("transfers", terms.transfers...);
    see("host", terms.host...);
    see("pipeline", terms.pipeline...);
  }

  double sum() const {
    double total = 0;
    visit([&](const char *, double seconds) { total += seconds; }, *this);
    return total;
  }
  /// `more`, so many times.
  void add(const TimeTerms &more, double times = 1) {
    visit([&](const char *, double &own, double other) { own += times * other; }, *this, more);
  }
};

} // namespace mlir::par

#endif // PAR_COST_TIMETERMS_H
