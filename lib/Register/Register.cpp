//===- Register.cpp - the dialects and passes that par's tools use --------------------------------------===//
#include "par/Register/Register.h"
#include "mlir/Transforms/Passes.h"
#include "par/Conversion/Passes.h"
#include "par/Dialect/Par/IR/Par.h"
#include "par/Dialect/Rank/IR/Rank.h"
#include "par/Pipelines/Pipelines.h"
#include "par/Transforms/Annotate/Passes.h"
#include "par/Transforms/Cut/Passes.h"
#include "par/Transforms/Differentiate/Passes.h"
#include "par/Transforms/Lower/Passes.h"
#include "par/Transforms/Overlap/Passes.h"
#include "par/Transforms/Partition/Passes.h"
#include "par/Transforms/Propagate/Passes.h"

using namespace mlir;

void par::registerDialects(DialectRegistry &registry) {
  registry.insert<ParDialect, rank::RankDialect, arith::ArithDialect, math::MathDialect, func::FuncDialect>();
  registerElementwiseModels(registry);
}

void par::registerPasses() {
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  registerDifferentiatePasses();
  registerDifferentiatePipeline();
  registerAnnotatePasses();
  registerPropagatePasses();
  registerCutPasses();
  registerPartitionPasses();
  registerOverlapPasses();
  registerLowerPasses();
  registerConversionPasses();
  registerPipelines();
}
