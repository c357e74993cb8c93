/** What pip is told of packages of conda. */
import { assert, describe, it } from "@effect/vitest"
import { requirementOf } from "../src/internal/environments/FromIndex.ts"

describe("a package of conda as a requirement of pip", () => {
  const same = [
    ["robocorp-truststore=0.8.0", "robocorp-truststore==0.8.0.*"],
    ["truststore==0.8.0", "truststore==0.8.0"],
    ["conda-forge::numpy=1.26", "numpy==1.26.*"],
    ["numpy=1.26.*", "numpy==1.26.*"],
    ["numpy 1.26.*", "numpy==1.26.*"],
    ["numpy 1.26.4", "numpy==1.26.4"],
    ["numpy >=1.20, <2", "numpy>=1.20,<2"],
    ["numpy>=1.20.*,!=1.21.*", "numpy>=1.20,!=1.21.*"],
    ["numpy~=1.20", "numpy~=1.20"],
    ["numpy >= 1.20", "numpy>=1.20"],
    ["numpy", "numpy"],
    ["numpy=*", "numpy"]
  ] as const
  for (const [spec, requirement] of same) {
    it(`is ${requirement} for ${spec}`, () => {
      assert.strictEqual(requirementOf(spec), requirement)
    })
  }

  const conda = [
    "numpy=1.26.4=py310_0",
    "numpy=1.2|1.3",
    "numpy[version='>=1']",
    "nodejs=20",
    "tzdata=2023c",
    "FFmpeg",
    "_libgcc"
  ]
  for (const spec of conda) {
    it(`is none for ${spec}`, () => {
      assert.isNull(requirementOf(spec))
    })
  }
})
