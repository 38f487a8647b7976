/// Ways to start ranks for the conformance suite; every test program defines its own list.
#ifndef LAUNCHES_H
#define LAUNCHES_H

#include "comm/Transport.h"

#include <functional>

/// Runs `body` on every rank of a new world of `size`, each with its own transport.
using Launch =
    std::function<void(int size, const std::function<void(par::comm::Transport &, int rank)> &body)>;

struct NamedLaunch {
  const char *name;
  Launch launch;
  bool sendsMessages; ///< else ranks share memory
};

const std::vector<NamedLaunch> &launches();

#endif
