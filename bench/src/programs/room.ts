/**
 * The service on the folder of the first argument, or on the Postgres of the second, with a key and a process. Nothing is asked of it but
 * requests.
 */
import { Permission } from "@signalbox/api/contract/Authorization"
import * as Effect from "effect/Effect"
import { Processes } from "../../../packages/control-room/src/internal/store/processes/Processes.ts"
import { ApiKeys } from "../../../packages/control-room/src/internal/store/access/ApiKeys.ts"
import { Workers } from "../../../packages/control-room/src/internal/store/workers/Workers.ts"
import { Workspaces } from "../../../packages/control-room/src/internal/store/access/Workspaces.ts"
import { serve } from "../harness/Program.ts"
import * as Room from "./support/Room.ts"

/** Where to ask, and what there is. */
export interface Served {
  readonly origin: string
  readonly key: string
  readonly workspaceId: string
  readonly processId: string
  /** With which a worker links itself. */
  readonly linkToken: string
}

const [folder = ".", url] = process.argv.slice(2)
const room = Room.start(folder, url ?? null)

const ready = await room.runPromise(
  Effect.gen(function* () {
    const workspace = yield* (yield* Workspaces).create("bench")
    const { key } = yield* (yield* ApiKeys).create(workspace.id, "bench", Permission.literals)
    const made = yield* (yield* Processes).create(workspace.id, { name: "bench", steps: [] })
    if (made === null) return yield* Effect.die("the name is taken")
    const { link_token } = yield* (yield* Workers).createLinkToken(workspace.id, "9999-12-31T23:59:59.999Z")
    const served: Served = {
      origin: yield* Room.origin,
      key,
      workspaceId: workspace.id,
      processId: made.view.id,
      linkToken: link_token
    }
    return served
  })
)
serve(() => Promise.resolve(null), { ready, close: () => room.dispose() })
