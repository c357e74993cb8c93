import { assert, expectTypeOf, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import type * as Config from "effect/Config"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { ProcessId } from "@signalbox/api/contract/Ids"
import type { FlowEngine } from "../src/FlowEngine.ts"
import type { FlowDraining, FlowExpired, FlowNotRegistered, InvalidInput } from "../src/FlowErrors.ts"
import type * as Steps from "../src/ControlRoomSteps.ts"
import type { begin, flows } from "./support/readme-durable.ts"
import { main } from "./support/readme-example.ts"

it("the examples of the README are those that are compiled here", () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  for (const name of ["example", "durable", "cluster"]) {
    const example = readFileSync(new URL(`./support/readme-${name}.ts`, import.meta.url), "utf8")
    assert.include(readme, `\`\`\`ts\n${example}\`\`\``)
  }
})

it("the durable example needs the engine alone once its flows are there", () => {
  expectTypeOf<ReturnType<typeof begin>>().toEqualTypeOf<
    Effect.Effect<string, InvalidInput | FlowNotRegistered | FlowExpired | FlowDraining, FlowEngine>
  >()
  expectTypeOf<Layer.Success<typeof flows>>().toEqualTypeOf<FlowEngine>()
  expectTypeOf<Layer.Services<typeof flows>>().toEqualTypeOf<never>()
})

it("the example needs nothing more, and says what it can fail with", () => {
  expectTypeOf<ReturnType<typeof main>>().toEqualTypeOf<
    Effect.Effect<
      typeof Steps.collectOutputs.success.Type,
      | typeof Steps.startRun.error.Type
      | typeof Steps.awaitCompletion.error.Type
      | typeof Steps.collectOutputs.error.Type
      | InvalidInput
      | Config.ConfigError
    >
  >()
  expectTypeOf<Parameters<typeof main>>().toEqualTypeOf<[process: ProcessId]>()
})
