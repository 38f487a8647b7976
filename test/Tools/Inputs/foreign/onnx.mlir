module {
  func.func @main_graph(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %0 = "onnx.Tanh"(%arg0) : (tensor<1x4xf32>) -> tensor<1x4xf32>
    onnx.Return %0 : tensor<1x4xf32>
  }
}
