/** A process is named by its id, or by an object that has it, in each function alike. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ProcessId, ScheduleId, TriggerId, WebhookId } from "../src/contract/Ids.ts"
import type { ControlRoom } from "../src/ControlRoom.ts"
import type { ProcessRef } from "../src/internal/calls/Workspace.ts"
import * as Schedules from "../src/Schedules.ts"
import * as Triggers from "../src/Triggers.ts"
import * as Webhooks from "../src/Webhooks.ts"
import * as WorkItems from "../src/WorkItems.ts"
import { answer } from "./support/FaultServer.ts"
import { withServer } from "./support/Retries.ts"

const every = { name: "n", every: "1 hour" }
const atLeast = { name: "n", start: { at_least: 1 } }
const hook = { endpoint: "https://example.com/hook", events: ["process_run.completed"] } as const

const calls: Readonly<Record<string, (process: ProcessRef) => Effect.Effect<unknown, unknown, ControlRoom>>> = {
  "WorkItems.create": (process) => WorkItems.create({ process }),
  "WorkItems.createMany": (process) => WorkItems.createMany({ process, payloads: [1] }),
  "Schedules.create": (process) => Schedules.create({ ...every, process }),
  "Schedules.update": (process) => Schedules.update(ScheduleId.make("s"), { ...every, process }),
  "Schedules.put": (process) => Schedules.put({ ...every, process }),
  "Triggers.create": (process) => Triggers.create({ ...atLeast, process }),
  "Triggers.update": (process) => Triggers.update(TriggerId.make("t"), { ...atLeast, process }),
  "Webhooks.create": (process) => Webhooks.create({ ...hook, process }),
  "Webhooks.update": (process) => Webhooks.update(WebhookId.make("w"), { process })
}

const id = ProcessId.make("process")
/** As a program has it of `Processes.put`. */
const whole = { id, name: "invoices", steps: [] }

describe("the process", () => {
  for (const [name, call] of Object.entries(calls)) {
    it.live(`of ${name} is an id, or what has one`, () =>
      withServer((server) =>
        Effect.gen(function* () {
          server.script([answer(500)])
          for (const process of [id, whole]) {
            yield* Effect.ignore(call(process))
            const body: unknown = JSON.parse(server.received().at(-1)?.body ?? "{}")
            assert.deepInclude(body, { process: { id } })
          }
        })
      )
    )
  }

  it.live("that is none is refused, and nothing is sent", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(500)])
        // A program without types.
        const none = undefined as unknown as ProcessRef
        for (const call of [calls["WorkItems.create"], calls["Schedules.create"]]) {
          const error = yield* Effect.flip(call?.(none) ?? Effect.void)
          assert.match(String(error), /process: /)
        }
        assert.deepStrictEqual(server.received(), [])
      })
    )
  )
})
