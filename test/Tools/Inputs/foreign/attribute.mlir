module {
  func.func @f(%a: tensor<4xf32, #stablehlo.bounds<1>>) { return }
}
