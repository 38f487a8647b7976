//===- ParAllAttributes.td - what the dialect parses and prints: one list for all headers of attributes -----===//
include "par/Dialect/Par/IR/ParAttributes.td"
include "par/Dialect/Par/IR/ParPlan.td"
