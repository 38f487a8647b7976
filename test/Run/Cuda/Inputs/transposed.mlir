module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
  rank.func @f(%x: !rank.buffer<65536>, %y: !rank.buffer<65536>) attributes {frame = 0 : i64, results = 1 : i64} {
    rank.kernel ins(%x : !rank.buffer<65536>) outs(%y : !rank.buffer<65536>) {
    ^bb0(%a: tensor<64x256xf32>):
      %0 = par.transpose %a [1, 0] : tensor<64x256xf32> -> tensor<256x64xf32>
      rank.yield %0 : tensor<256x64xf32>
    }
    rank.return
  }
}
