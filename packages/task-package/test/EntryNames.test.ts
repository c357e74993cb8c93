import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { check, faultOnWindows } from "../src/internal/zip/EntryNames.ts"
import { packageLimits } from "../src/PackageLimits.ts"

const entry = (name: string) => ({ name, size: 1, compressed: 1, mode: 0, isEncrypted: false, method: 0 })

describe("the name of an entry", () => {
  it("may be none on Windows: characters, ends and devices that it treats specially", () => {
    const refused: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp]> = [
      [["a:b", "tasks.py:hidden", "what?", "a/*.txt", 'say "a"'], /character/],
      [["tasks.py.", "a /b", "a./b"], /ends with a dot or a space/],
      [["NUL", "con.txt", "a/Aux/b", "com1", "LPT9.log", "nul .txt"], /device/]
    ]
    for (const [names, says] of refused) for (const name of names) assert.match(faultOnWindows(name) ?? "", says, name)
    for (const name of ["tasks.py", "console.txt", "com10", "a b/c.d", ".env", "lib/"]) {
      assert.isNull(faultOnWindows(name), name)
    }
  })

  it.effect("is refused there alone", () =>
    Effect.gen(function* () {
      const entries = [entry("robot.yaml"), entry("tasks.py:hidden")]
      const error = yield* Effect.flip(check(entries, packageLimits, "win32"))
      assert.match(
        error.message,
        /"?tasks\.py:hidden"? has a character in its name that Windows does not allow; rename it/
      )
      yield* check(entries, packageLimits, "linux")
    })
  )
})
