//===- RooflineMachine.cpp - a device and a link by their rates alone -----------------------------------===//
#include "par/Cost/Machine.h"

using namespace mlir::par;

double RooflineMachine::getSeconds(const Computation &work) const {
  OpCost cost;
  cost.flops = work.flops;
  cost.bytes = work.bytes;
  return par::getSeconds(cost, rates);
}

double RooflineMachine::getSeconds(const Exchange &exchange) const {
  OpCost cost;
  cost.gathered = exchange.wireBytes;
  return par::getSeconds(cost, rates);
}

// A link as fast as the one to a neighbour: there is no rate of hosts.
double RooflineMachine::getCopySeconds(double bytes) const {
  OpCost cost;
  cost.gathered = bytes;
  return par::getSeconds(cost, rates);
}
