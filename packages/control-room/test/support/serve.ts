/** The service as a separate process, on the folder given as argument. Writes one line of JSON when it is ready. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Statement from "effect/sql/Statement"
import { flushCompileCache } from "node:module"
import { AlertTiming } from "../../src/internal/background/PollInterval.ts"
import { externalBucket } from "./Bucket.ts"
import { layerIn, Service, storageIn } from "./Service.ts"

const announce = Layer.effectDiscard(
  Effect.flatMap(Service, ({ key, origin, workspaceId }) =>
    Effect.sync(() => {
      process.stdout.write(`${JSON.stringify({ key, origin, workspaceId })}\n`)
      // As at its end: most of these processes are killed.
      flushCompileCache()
    })
  )
)

/** Checks of alerts each second, in place of each half minute, for drills that kill nodes. */
const timing =
  process.env["SIGNALBOX_TEST_ALERTS"] === "fast"
    ? Layer.succeed(AlertTiming, { startDelay: 0, checkEvery: "1 second", claim: "4 seconds", claimMail: "4 seconds" })
    : Layer.empty

/** Ends the process, as a lack of memory would, when it changes a certain work item. */
const deadlyItem = process.env["SIGNALBOX_TEST_DEADLY_ITEM"]
const deadly =
  deadlyItem === undefined
    ? Layer.empty
    : Layer.succeed(Statement.CurrentTransformer, (statement) =>
        Effect.sync(() => {
          const [text, parameters] = statement.compile()
          if (/^\s*UPDATE work_item/.test(text) && parameters.includes(deadlyItem)) process.kill(process.pid, "SIGKILL")
          return statement
        })
      )

const folder = process.argv[2] ?? ""
const s3 = externalBucket("")
const storage = { ...storageIn(folder), ...(s3 === null ? {} : { s3 }) }
const service = Layer.provide(layerIn(folder, { rateLimit: null }, storage), Layer.merge(timing, deadly))

NodeRuntime.runMain(Layer.launch(Layer.provide(announce, service)))
