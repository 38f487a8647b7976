module attributes {par.plan = #par.plan<target = "cuda", chip = "sm_90">} {
  rank.func @f(%x: !rank.buffer<65792>, %y: !rank.buffer<65792>) attributes {frame = 0 : i64, results = 1 : i64} {
    rank.kernel ins(%x : !rank.buffer<65792>) outs(%y : !rank.buffer<65792>) {
    ^bb0(%a: tensor<64x257xf32>):
      %0 = par.transpose %a [1, 0] : tensor<64x257xf32> -> tensor<257x64xf32>
      rank.yield %0 : tensor<257x64xf32>
    }
    rank.return
  }
}
