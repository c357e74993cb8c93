import { assert, expectTypeOf, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type * as Config from "effect/Config"
import type * as Effect from "effect/Effect"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import type * as Steps from "../src/ControlRoomSteps.ts"
import { main } from "./support/readme-example.ts"

it("the example of the README is the one that is compiled here", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const example = readFileSync(new URL("./support/readme-example.ts", import.meta.url), "utf8")
  assert.include(readme, `\`\`\`ts\n${example}\`\`\``)
})

it("the example needs nothing more, and says what it can fail with", () => {
  expectTypeOf<ReturnType<typeof main>>().toEqualTypeOf<
    Effect.Effect<
      typeof Steps.collectOutputs.success.Type,
      | typeof Steps.startRun.error.Type
      | typeof Steps.awaitCompletion.error.Type
      | typeof Steps.collectOutputs.error.Type
      | Config.ConfigError
    >
  >()
  expectTypeOf<Parameters<typeof main>>().toEqualTypeOf<[process: ProcessId]>()
})
