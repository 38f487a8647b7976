//===- Axes.h - the axes of a mesh and their roles --------------------------------------------*- C++ -*-===//
#ifndef PAR_PLAN_AXES_H
#define PAR_PLAN_AXES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace mlir::par {

/// A role says what the ranks along an axis have parts of. An axis may have several roles.
enum class AxisRole : uint8_t {
  Pipeline = 1, ///< layers: every rank is a stage
  Batch = 2,    ///< rows of the batch
  Sequence = 4, ///< positions of a row
  State = 8,    ///< state that is equal on all of the ranks: ZeRO stores it in parts
  Tensor = 16,  ///< parameters, by the names of their dimensions, and what is computed with them
  Experts = 32, ///< experts; only of views: in other layers their ranks have other roles
};

/// A row of the table of axes: an addition to it is all that a new axis takes here.
struct AxisKind {
  llvm::StringLiteral name;
  uint8_t roles;          ///< of `AxisRole`
  llvm::StringLiteral of; ///< the axis that it is a part of, or empty
  bool isView = false;    ///< another name of ranks that other axes number

  bool has(AxisRole role) const { return roles & static_cast<uint8_t>(role); }
};

/// All axes, outermost first: neighbours along the last one have neighbouring rank numbers.
llvm::ArrayRef<AxisKind> getAxisKinds();

/// Whether users may give a mesh an axis of that name, and all names that they may give: "pp, … or tp".
bool isGivenAxis(llvm::StringRef name);
std::string listAxisNames();

/// The user's axis that `name` refines ("tp" for "tp.kv"), or `name` itself.
inline llvm::StringRef getUserAxis(llvm::StringRef name) { return name.split('.').first; }
/// The axis that the table says `name` is a part of, or nothing.
llvm::StringRef getWholeAxis(llvm::StringRef name);
/// Whether `name` is `axis`, or a part of it: by a dot or by the table.
bool isPartOf(llvm::StringRef name, llvm::StringRef axis);
/// Whether the axis, or the one that it refines, has the role. A name that the table lacks has none.
bool hasRole(llvm::StringRef name, AxisRole role);
/// The axis that is the whole of a role: the first of the table that has it.
llvm::StringRef getAxisName(AxisRole role);
/// The two parts of an axis by the table: the outer one replicates state, the inner one has it in parts.
std::pair<llvm::StringRef, llvm::StringRef> getStateParts(llvm::StringRef axis);

/// Names and sizes, outermost first.
using NamedAxes = std::vector<std::pair<std::string, int64_t>>;

/// Axes as users write them ("tp=2,dp=4"), in the order of the table. An axis may be given as its parts;
/// where it is given too, it is their product, and one of two may be left out. Then it is not among the
/// result itself. Errors: text that is no axis=size, an unknown axis, one given twice, a product that is not
/// the axis', more than 2^24 ranks.
llvm::Expected<NamedAxes> parseMeshAxes(llvm::StringRef text);

/// A mesh with an axis of each of these roles: those of one rank, too.
NamedAxes makeMesh(std::initializer_list<std::pair<AxisRole, int64_t>> ranks);

/// Ranks over all axes that have the role.
int64_t countRanks(const NamedAxes &axes, AxisRole role);

/// Gives an axis another size, in the order of the table. Other axes of one rank are left out.
void resizeAxis(NamedAxes &axes, llvm::StringRef name, int64_t size);

/// Divides the ranks of `axis` into groups of `ranks`, which state is stored in parts over.
void divideState(NamedAxes &axes, llvm::StringRef axis, int64_t ranks);

} // namespace mlir::par

#endif // PAR_PLAN_AXES_H
