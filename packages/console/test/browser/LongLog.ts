/** A step run whose log a test writes, line by line or by the thousand. */
import * as Processes from "@signalbox/api/Processes"
import * as ProcessRuns from "@signalbox/api/ProcessRuns"
import * as Workers from "@signalbox/api/Workers"
import * as WorkerProtocol from "@signalbox/api/robot/WorkerProtocol"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Redacted from "effect/Redacted"
import { Room } from "./Room.ts"

/** Lines of one report. */
const most = 1000

/** `textOf`: a line by its number, from 0. */
export const longLog = Effect.fnUntraced(
  function* (textOf: (line: number) => string) {
    const { api, origin } = yield* Room
    const name = `writes ${crypto.randomUUID()}`
    const { link_token } = yield* api(Workers.createLinkToken())
    const linkToken = Redacted.make(link_token)
    const identity = yield* WorkerProtocol.link({ origin, linkToken, name, tasks: [name] })
    yield* Effect.addFinalizer(() => api(Workers.remove(identity.workerId).pipe(Effect.ignore)))
    const protocol = yield* WorkerProtocol.make(origin, identity)
    const { sendConsole } = yield* WorkerProtocol.makeReports(origin, identity)
    const process = yield* api(Processes.create({ name, steps: [{ name: "Write", task: { name } }] }))
    yield* api(ProcessRuns.start(process.id, { payloads: [{}] }))
    const [lease] = yield* protocol.lease({ free: 1, tasks: [name], waitSeconds: 30 })
    if (lease === undefined) return yield* Effect.die("the step run was not given to the worker")
    yield* protocol.start(lease)
    yield* Effect.addFinalizer(() => Effect.ignore(protocol.finish(lease, null)))
    yield* Effect.forkScoped(
      Effect.forever(
        Effect.delay(Effect.ignore(protocol.heartbeat([lease.step_run_id])), `${identity.heartbeatSeconds} seconds`)
      )
    )
    let written = 0
    /** Writes so many lines more. */
    const write = Effect.fnUntraced(function* (count: number) {
      for (const end = written + count; written < end;) {
        const messages = Array.from({ length: Math.min(most, end - written) }, (_, n) => ({
          timestamp: new Date(1_780_000_000_000 + (written + n) * 40).toISOString(),
          message: textOf(written + n)
        }))
        yield* sendConsole(lease, written, messages)
        written += messages.length
      }
    }, Effect.orDie)
    return { address: `#/runs/${lease.process_run_id}?tab=log`, write }
  },
  Effect.provide(FetchHttpClient.layer),
  Effect.orDie
)
