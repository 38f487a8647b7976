/// The tokens and targets of a batch, written into a rank's arena.
#ifndef PAR_CORE_BATCH_H
#define PAR_CORE_BATCH_H

#include "core/Arenas.h"
#include "par/io/TokenData.h"

namespace par::rt {

/// A sequence and what is known of its tokens: `sequence` numbers each, and one more token.
struct BatchRow {
  explicit BatchRow(int64_t sequence);

  std::vector<int32_t> tokens, targets;
  /// Each token's place in its document, and that document's number, both from 0.
  std::vector<int32_t> positions, documents;
};

/// Gives the rows of a batch. (No std::function: that would allocate in every step.)
struct RowSource {
  virtual ~RowSource() = default;
  /// Writes the row, whose vectors keep their sizes. False: it counts for nothing.
  virtual bool read(int64_t number, BatchRow &row) const = 0;
};

/// The windows first … end - 1 of `data`, one per row; rows beyond count for nothing.
struct WindowRows : RowSource {
  WindowRows(const io::TokenData &data, int64_t first, int64_t end, int64_t sequence)
      : data(data), first(first), end(end), sequence(sequence) {}
  bool read(int64_t number, BatchRow &row) const override;

  const io::TokenData &data;
  int64_t first, end, sequence;
};

class BatchWriter {
public:
  BatchWriter(const Manifest &manifest, int rank);
  /// Row r of micro-batch m is row m·B/M + r of the batch. Allocates nothing.
  void write(const Arenas &arenas, const RowSource &source);

private:
  static bool writes(const Input &input);
  void writeInput(const Arenas &arenas, const Input &input, const Shape &begin, const RowSource &source);

  const Program &program;
  std::vector<Shape> begins; ///< per input of the program
  BatchRow row;
  std::vector<int32_t> part; ///< a rank's of a micro-batch, before it is copied to the device
};

} // namespace par::rt
#endif
