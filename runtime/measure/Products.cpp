#include "measure/ProductRun.h"

namespace par::measure {

/// A large one, sums of few terms, few rows, and sizes that are no multiple of anything.
void measureProducts(Measurement &into) {
  constexpr int64_t large = 1024, odd = 1021;
  for (ProductFigure figure :
       {ProductFigure{false, large, large, large}, ProductFigure{true, large, large, large},
        ProductFigure{false, odd, odd, odd}, ProductFigure{false, large, large, 256},
        ProductFigure{false, large, large, 64}, ProductFigure{false, large, large, 16},
        ProductFigure{false, 64, large, large}, ProductFigure{false, 16, large, large}}) {
    ProductRun product(figure);
    figure.seconds = measureSeconds([&] { product.run(); });
    into.products.push_back(figure);
  }
}

} // namespace par::measure
