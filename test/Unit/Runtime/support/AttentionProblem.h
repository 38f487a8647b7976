/// A call of attention with buffers of its own, and what it gives in f64.
#ifndef PAR_TEST_ATTENTIONPROBLEM_H
#define PAR_TEST_ATTENTIONPROBLEM_H

#include "cpu/Context.h"
#include "par/runtime.h"

#include <vector>

namespace par::test {

/// A call gives out and lse, and the gradients. Rows lie one after the other.
template <typename Number>
struct AttentionResults {
  std::vector<Number> out, lse, dq, dk, dv;
};

struct AttentionReference : AttentionResults<double> {
  /// The largest term of dq and dk before its difference is taken: P·(|dP| + |delta|) times a number of k or
  /// q. They may be small where it is not.
  double largestTerm = 0;
};

/// Operands are random numbers; they and the results lie in buffers whose rows are as far apart as `what`
/// says. Where results go is NaN before.
class AttentionProblem {
public:
  /// Positions are 0, 1, … for every table, and there are no documents. Strides of 0 are those of whole rows.
  explicit AttentionProblem(par_attention what, unsigned seed = 5);

  /// Computes in f32. The backward pass takes what the forward pass gave.
  AttentionResults<float> compute(device::Context &context);
  /// Computes in bf16, of operands that `round` has rounded to it.
  AttentionResults<float> computeBf16(device::Context &context);
  /// Makes all operands numbers that bf16 has.
  void round();

  AttentionReference reference() const;

  bool sees(int64_t entry, int64_t query, int64_t key) const;

  par_attention what;
  std::vector<float> q, k, v, dout, sinks; ///< sinks: empty without any
  /// [rows], or [batch, rows] with rows_per_entry; documents are empty where all rows are of one.
  std::vector<int32_t> qPositions, kPositions, qDocuments, kDocuments;
  int32_t key[2] = {123456789, -77}, site = 3, row = 5, offsets[5] = {2, 7, 1, 3, 11};

private:
  struct Query {
    int64_t batch, row, kvHead, group;
  };
  void referenceRow(const Query &query, AttentionReference &results) const;
  double keep(const Query &query, int64_t key) const;
  int64_t tableRow(int64_t entry, int64_t rows, int64_t row) const {
    return (what.rows_per_entry ? entry * rows : 0) + row;
  }
  std::vector<void *> inputs(void *q, void *k, void *v, void *sinks);
};

} // namespace par::test
#endif
