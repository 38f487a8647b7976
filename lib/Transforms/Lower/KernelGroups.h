//===- KernelGroups.h - which ops of a function become one kernel -----------------------------*- C++ -*-===//
#ifndef PAR_TRANSFORMS_LOWER_KERNELGROUPS_H
#define PAR_TRANSFORMS_LOWER_KERNELGROUPS_H

#include "mlir/IR/Operation.h"
#include "par/Interfaces/Interfaces.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::par {

/// Groups of ops of one block, as they grow. A *unit* is what runs as one: a group with the clones that
/// belong to its ops, or an op alone. Units must stay free of cycles: whether two may become one is asked
/// before each merge (`isBetween`).
class KernelGroups {
public:
  /// `joinsPlaced`: ops that need an element's place, as dropout does, are taken for elementwise, as they are
  /// but for that.
  explicit KernelGroups(Block &block, bool joinsPlaced = false) : block(block), joinsPlaced(joinsPlaced) {}

  /// A new group; its number.
  int64_t create(ArrayRef<Operation *> ops);
  void add(int64_t number, Operation *op);
  void merge(int64_t from, int64_t into);

  bool contains(Operation *op) const { return numbers.count(op); }
  /// The number of an op's group.
  std::optional<int64_t> find(Operation *op) const;
  bool isIn(Operation *op, int64_t number) const { return find(op) == number; }
  ArrayRef<Operation *> getMembers(int64_t number) const { return groups[number].members; }

  /// Goes on with the elements of its operands, one at a time.
  bool isElementwise(Operation *op) const;

  /// All members are elementwise ops of this shape, or composite ones whose first result has it.
  bool haveShape(int64_t number, ArrayRef<int64_t> shape) const { return groups[number].shape == shape; }

  /// A clone made for exactly one user goes with it.
  void addClone(Operation *clone) { clones.insert(clone); }
  bool isClone(Operation *op) const { return clones.contains(op); }
  bool belongsToUser(Operation *op) const { return isClone(op) && op->hasOneUse(); }

  /// True if something else lies on a way between two groups, in either direction: as one kernel they would
  /// need it before and after they run. An op may join the group that alone reads it without asking.
  bool isBetween(int64_t a, int64_t b);

  /// Puts the ops of a unit next to each other; units in an order in which everything is computed before it
  /// is used, as close to the old order as possible.
  void sort();

  /// Writes every op's kernel number.
  void number(StringRef attribute) const;

private:
  struct Group {
    SmallVector<Operation *> members;
    std::optional<ArrayRef<int64_t>> shape; ///< of all members; nothing if they differ
  };
  using Use = llvm::function_ref<void(Operation *unit)>;

  std::optional<ArrayRef<int64_t>> getShape(Operation *op) const;
  int64_t findRoot(int64_t number) const;
  Operation *getUnit(Operation *op) const;
  ArrayRef<Operation *> getOps(Operation *const &unit) const;
  void forEachProducer(Operation *op, Use use) const;
  void forEachUser(Operation *op, Use use) const;

  void findLevels();
  int64_t findLevel(Operation *unit, Operation *without) const;
  void raise(Operation *unit, int64_t level);
  bool reaches(Operation *source, Operation *target) const;

  Block &block;
  bool joinsPlaced;
  SmallVector<Group> groups;
  mutable SmallVector<int64_t> parents;          ///< of a merged group: the one that it became part of
  llvm::MapVector<Operation *, int64_t> numbers; ///< of ops, when they were added
  llvm::DenseSet<Operation *> clones;
  /// Of a unit: more than of any that it reads, so that whoever is not higher does not depend on it. Empty
  /// until somebody asks. (Pearce and Kelly, "A dynamic topological sort algorithm", 2006, keep an order for
  /// the same purpose.)
  llvm::DenseMap<Operation *, int64_t> levels;
};

} // namespace mlir::par

#endif // PAR_TRANSFORMS_LOWER_KERNELGROUPS_H
