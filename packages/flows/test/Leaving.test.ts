import { assert, describe, it } from "@effect/vitest"
import * as Leaving from "../src/internal/interpreter/state/Leaving.ts"

describe("an execution whose process closes", () => {
  it("begins nothing more when a suspend that was read before is withdrawn", () => {
    const leaving = Leaving.make()
    leaving.suspend(1)
    leaving.close()
    assert.isTrue(leaving.isSuspending())
    assert.deepStrictEqual(leaving.withdraw(), { withdrawn: [1], undelivered: [] })
    assert.isFalse(leaving.stays())
    assert.isFalse(leaving.isSuspending())
  })

  it("is suspended when it leaves if a suspend comes then", () => {
    const leaving = Leaving.make()
    leaving.close()
    leaving.suspend(1)
    assert.isTrue(leaving.isSuspending())
  })
})
