//===- Number.h - an element of a tensor as a number of a field --------------------------*- C++ -*-===//
// A value of a program stands for what it computes by a number: one element, at a place that nobody names, in
// the integers modulo 2^61 − 1, twice, with independent random numbers for what the program does not say.
// Sums and products are those of the field, so their order does not matter; every other function is a random
// one (Schwartz, Fast probabilistic algorithms for verification of polynomial identities, 1980).
#ifndef PAR_LIB_JUDGE_NUMBER_H
#define PAR_LIB_JUDGE_NUMBER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>

namespace mlir::par {

class Number {
public:
  static constexpr uint64_t kPrime = (uint64_t(1) << 61) - 1;

  Number() = default;
  static Number ofInteger(int64_t value);
  /// Exact: a float is an integer times a power of two. Infinities and NaN are random numbers.
  static Number ofFloat(double value);

  Number operator+(const Number &other) const;
  Number operator-(const Number &other) const;
  Number operator*(const Number &other) const;
  /// The inverse of zero is zero.
  Number inverse() const;
  bool operator==(const Number &other) const { return residues == other.residues; }
  bool operator!=(const Number &other) const { return residues != other.residues; }
  bool operator<(const Number &other) const { return residues < other.residues; }

private:
  friend class RandomFunction;
  std::array<uint64_t, 2> residues = {0, 0};
};

/// A random function, applied to what was added, in order.
class RandomFunction {
public:
  explicit RandomFunction(llvm::StringRef name) { add(name); }

  RandomFunction &add(uint64_t word) {
    words.push_back(word);
    return *this;
  }
  RandomFunction &add(llvm::StringRef text);
  RandomFunction &add(const Number &number);
  Number get() const;

private:
  llvm::SmallVector<uint64_t, 24> words;
};

} // namespace mlir::par

#endif // PAR_LIB_JUDGE_NUMBER_H
