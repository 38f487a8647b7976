/// Descriptors of the stand-in of cuDNN: attributes by name, each of one type, all of which are known.
#ifndef PAR_STANDIN_CUDNN_DESCRIPTORS_H
#define PAR_STANDIN_CUDNN_DESCRIPTORS_H

#include "standin/cudnn/Graph.h"

#include <map>
#include <string>

namespace par::standin {

/// What a descriptor of a kind may be told.
struct AttributeRule {
  cuda::CudnnName name;
  cuda::CudnnType type;
  int64_t count; ///< 0: any
  bool isNeeded = true;
};

/// A plan as JSON: the library's version, and the graph. (Real ones have a compiled kernel in them.)
std::string printPlan(const Graph &graph);
/// 91900 for cuDNN 9.19.
size_t libraryVersion();

struct Descriptor {
  cuda::CudnnKind kind = 0;
  bool isFinal = false;
  bool isSupported = true; ///< a plan that is read: this library wrote it
  std::map<cuda::CudnnName, std::string> bytes;
  std::map<cuda::CudnnName, int64_t> counts;
  TensorShape tensor;           ///< of a tensor
  Operation operation;          ///< of an operation
  std::shared_ptr<Graph> graph; ///< of a graph, and of a heuristic, a way and a plan for it

  bool has(cuda::CudnnName name) const { return bytes.count(name) != 0; }
  template <typename T>
  T at(cuda::CudnnName name, size_t number = 0) const {
    T value;
    bytes.at(name).copy(reinterpret_cast<char *>(&value), sizeof(T), number * sizeof(T));
    return value;
  }
  Descriptor &other(cuda::CudnnName name, size_t number = 0) const {
    return *static_cast<Descriptor *>(at<void *>(name, number));
  }
};

/// Empty, or which rule an attribute breaks.
std::string set(Descriptor &descriptor, cuda::CudnnName name, cuda::CudnnType type, int64_t count,
                const void *values);
/// Empty, or what is missing or does not go together.
std::string finalize(Descriptor &descriptor);
/// Whether there are such descriptors here.
bool isKnown(cuda::CudnnKind kind);

} // namespace par::standin
#endif
