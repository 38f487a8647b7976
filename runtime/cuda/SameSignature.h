/// Whether two declarations of a C function are called in the same way.
#ifndef PAR_CUDA_SAMESIGNATURE_H
#define PAR_CUDA_SAMESIGNATURE_H

#include <type_traits>

namespace par::cuda {

template <typename Ours, typename Theirs>
constexpr bool passedAlike = false;

/// As many parameters, each passed in the same way. All results are numbers of an int's size.
template <typename... Ours, typename Result, typename... Theirs>
constexpr bool passedAlike<void(Ours...), Result(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) != sizeof...(Theirs) || sizeof(Result) != sizeof(int))
    return false;
  else
    return ((sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...);
}();

} // namespace par::cuda
#endif
