/**
 * `ProcessSteps.run` in processes that are killed at random points: its items are created once, its run is started once, and its
 * outputs are collected once.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { layer as connect } from "@signalbox/api/node"
import { WorkspaceId } from "@signalbox/api/contract/Ids"
import * as Process from "@signalbox/api/Process"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as WorkItems from "@signalbox/api/WorkItems"
import { sized, soak } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { type Room, temporaryFolder, up } from "../support/Cli.ts"
import { slowly } from "../support/killedProcess.ts"

const kills = sized(3, 100)
/** Of the points of an execution that is not killed, which has some 40. */
const lastPoint = 30
const seed = soak ? Date.now() : 17

const { folder, remove } = temporaryFolder("killed-processes")
const script = join(import.meta.dirname, "..", "support", "killedProcess.ts")
let room: Room | undefined
beforeAll(async () => {
  const tasks = join(import.meta.dirname, "..", "support", "slowTasks.ts")
  room = await up(join(folder, "data"), ["--tasks", tasks, "--workers", "2"])
})
afterAll(async () => {
  await room?.end("SIGKILL")
  remove()
})

const ready = () => (room ?? assert.fail("there is no control room")).ready

/** Runs the flow in a process; returns its result, or null when it was killed. */
const run = (numbers: ReadonlyArray<number>, killAt: number | null) =>
  Effect.promise(
    () =>
      new Promise<ReadonlyArray<number> | null>((resolve, reject) => {
        const { api_key, base_url, workspace_id } = ready()
        const plan = { file: join(folder, "flows.db"), numbers, killAt }
        const child = spawn(process.execPath, [script, JSON.stringify(plan)], {
          env: {
            PATH: process.env["PATH"],
            SIGNALBOX_BASE_URL: base_url,
            SIGNALBOX_API_KEY: api_key,
            SIGNALBOX_WORKSPACE_ID: workspace_id
          }
        })
        let [output, errors] = ["", ""]
        child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()))
        child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()))
        child.once("close", (code, signal) => {
          if (signal === "SIGKILL") return resolve(null)
          if (code !== 0) return reject(new Error(`killed at ${killAt}: ${errors}`))
          resolve(Schema.decodeSync(Schema.fromJsonString(Schema.Array(Schema.Finite)))(output))
        })
      })
  )

/** Numbers from 1 to `last`, the same for the same seed. */
const random = (last: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return 1 + (state % last)
  }
}

describe("a process that a durable flow runs", () => {
  it.live(
    `is run once, however often its program is killed: ${kills} times`,
    () =>
      Effect.gen(function* () {
        const { api_key, base_url, workspace_id } = ready()
        const options = {
          baseUrl: base_url,
          workspaceId: WorkspaceId.make(workspace_id),
          apiKey: Redacted.make(api_key)
        }
        const said = `the seed is ${seed}`
        const point = random(lastPoint)
        yield* Effect.gen(function* () {
          const { id } = yield* Process.deploy(slowly)
          const all: Array<number> = []
          for (let killed = 0; killed < kills;) {
            const numbers = [1, 2, 3].map((n) => all.length + n)
            all.push(...numbers)
            let outputs: ReadonlyArray<number> | null = null
            while (outputs === null) {
              outputs = yield* run(numbers, killed < kills ? point() : null)
              if (outputs === null) killed += 1
            }
            assert.deepStrictEqual(
              outputs.toSorted((a, b) => a - b),
              numbers,
              said
            )
          }
          const items = yield* Stream.runCollect(WorkItems.stream({ process: id, includeData: true }))
          const inputs = items.filter(({ files }) => (files ?? []).length > 0)
          assert.deepStrictEqual(
            inputs.map(({ payload }) => JSON.stringify(payload)).sort(),
            all.map((n) => JSON.stringify({ n })).sort(),
            said
          )
          assert.lengthOf(items, all.length, said)
          assert.isTrue(
            inputs.every(({ files }) => files?.length === 1),
            said
          )
          const runs = yield* Stream.runCollect(ProcessRuns.stream({ process: id }))
          assert.deepStrictEqual(
            runs.map(({ state }) => state),
            all.slice(0, all.length / 3).map(() => "completed"),
            said
          )
        }).pipe(Effect.provide(connect(options)))
      }),
    soak ? 1_800_000 : 240_000
  )
})
