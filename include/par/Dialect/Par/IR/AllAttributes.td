//===- AllAttributes.td - definitions of all attributes, whose declarations lie in several headers ----------===//
#ifndef PAR_ALL_ATTRIBUTES
#define PAR_ALL_ATTRIBUTES

include "par/Dialect/Par/IR/ParAttributes.td"
include "par/Dialect/Par/IR/ParPlan.td"
include "par/Dialect/Par/IR/PlaceAttributes.td"

#endif // PAR_ALL_ATTRIBUTES
