//===- SolveWithCbc.cpp - integer programs by COIN-OR CBC -----------------------------------------------===//
// Through its C interface: the C++ headers need exceptions and type information.

#include "par/ShardingSearch/IntegerProgram.h"
#include "par/Support/MakeError.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <Cbc_C_Interface.h>
#include <algorithm>
#include <memory>
#include <mutex>

using namespace mlir::par;

bool mlir::par::hasSolver() { return true; }

namespace {
struct DeleteModel {
  void operator()(Cbc_Model *model) const { Cbc_deleteModel(model); }
};
using Model = std::unique_ptr<Cbc_Model, DeleteModel>;

/// Rows as CBC takes them: column by column.
struct SparseColumns {
  explicit SparseColumns(const IntegerProgram &program) {
    std::vector<IntegerProgram::Terms> columns(program.columns.size());
    for (size_t row = 0; row < program.rows.size(); ++row)
      for (auto [column, factor] : program.rows[row].terms)
        columns[static_cast<size_t>(column)].emplace_back(static_cast<int>(row), factor);
    for (const IntegerProgram::Terms &terms : columns) {
      starts.push_back(static_cast<int>(rows.size()));
      for (auto [row, factor] : terms) {
        rows.push_back(row);
        factors.push_back(factor);
      }
    }
    starts.push_back(static_cast<int>(rows.size()));
  }

  std::vector<int> starts, rows;
  std::vector<double> factors;
};
} // namespace

static Model load(const IntegerProgram &program) {
  SparseColumns sparse(program);
  std::vector<double> zeros(program.columns.size(), 0), most, cost, rowLeast, rowMost;
  for (const IntegerProgram::Column &column : program.columns) {
    most.push_back(column.most);
    cost.push_back(column.cost);
  }
  for (const IntegerProgram::Row &row : program.rows) {
    rowLeast.push_back(row.least);
    rowMost.push_back(row.most);
  }
  Model model(Cbc_newModel());
  Cbc_loadProblem(model.get(), static_cast<int>(zeros.size()), static_cast<int>(rowLeast.size()),
                  sparse.starts.data(), sparse.rows.data(), sparse.factors.data(), zeros.data(), most.data(),
                  cost.data(), rowLeast.data(), rowMost.data());
  for (size_t column = 0; column < program.columns.size(); ++column)
    if (program.columns[column].isInteger)
      Cbc_setInteger(model.get(), static_cast<int>(column));
  return model;
}

/// CBC reads its parameters by static variables, so that one program is solved at a time: the search of plans
/// compiles on several threads.
static std::mutex &getSolverMutex() {
  static std::mutex mutex;
  return mutex;
}

llvm::Expected<ProgramAnswer> mlir::par::solveProgram(const IntegerProgram &program,
                                                      const ProgramLimits &limits) {
  ProgramAnswer answer;
  if (program.columns.empty()) {
    answer.isFeasible = llvm::all_of(
        program.rows, [](const IntegerProgram::Row &row) { return row.least <= 0 && row.most >= 0; });
    return answer;
  }
  std::lock_guard<std::mutex> lock(getSolverMutex());
  Model model = load(program);
  const std::pair<const char *, std::string> parameters[] = {
      {"log", "0"},          {"threads", "0"},   {"ratioGap", llvm::formatv("{0:e}", limits.gap).str()},
      {"allowableGap", "0"}, {"increment", "0"}, {"maxNodes", std::to_string(limits.mostNodes)},
  };
  for (const auto &[name, value] : parameters)
    Cbc_setParameter(model.get(), name, value.c_str());
  Cbc_solve(model.get());
  if (Cbc_isProvenInfeasible(model.get()))
    return answer;
  bool isOptimal = Cbc_isProvenOptimal(model.get());
  const double *values = Cbc_bestSolution(model.get());
  if (!values || (!isOptimal && !Cbc_isNodeLimitReached(model.get())))
    return makeError("COIN-OR CBC found no sharding within " + llvm::Twine(limits.mostNodes) +
                     " branches; split the parameters by the names of their dimensions instead");
  answer.isFeasible = true;
  answer.isCutOff = !isOptimal;
  answer.cost = Cbc_getObjValue(model.get());
  answer.bound = std::min(answer.cost, Cbc_getBestPossibleObjValue(model.get()));
  answer.values.assign(values, values + program.columns.size());
  return answer;
}
