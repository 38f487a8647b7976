module attributes {torch.debug_module_name = "M"} {
  func.func @forward(%arg0: !torch.vtensor<[4,8],f32>) -> !torch.vtensor<[4,8],f32> {
    %0 = torch.aten.tanh %arg0 : !torch.vtensor<[4,8],f32> -> !torch.vtensor<[4,8],f32>
    return %0 : !torch.vtensor<[4,8],f32>
  }
}
