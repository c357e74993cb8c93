/**
 * What goes with a control room in this process: a client that is connected to it, and its local workers. Apart from the
 * service, which is ready sooner without them.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { Credentials } from "@signalbox/api/Credentials"
import { layer as connect } from "@signalbox/api/node"
import * as Workers from "@signalbox/api/Workers"
import type * as Task from "@signalbox/worker/Task"
import * as Worker from "@signalbox/worker/Worker"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const workers = <T extends Task.Any>(origin: string, tasks: ReadonlyArray<T>, count: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const started: Array<ReturnType<typeof Worker.layer<T>>> = []
      for (let index = 1; index <= count; index++) {
        const { link_token } = yield* Workers.createLinkToken()
        const linkToken = Redacted.make(link_token)
        started.push(Worker.layer({ origin, linkToken, name: `local-${index}`, tasks }))
      }
      return started.reduce((all, layer) => Layer.merge(all, layer), Layer.empty as ReturnType<typeof Worker.layer<T>>)
    })
  )

/** The client, and so many workers for the tasks. */
export const layer = <T extends Task.Any>(
  { credentials, origin }: { readonly origin: string; readonly credentials: Credentials },
  tasks: ReadonlyArray<T>,
  count: number
) =>
  workers(origin, tasks, tasks.length === 0 ? 0 : count).pipe(
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.provideMerge(
      connect({
        baseUrl: origin,
        workspaceId: credentials.workspace_id,
        apiKey: Redacted.make(credentials.api_key)
      })
    )
  )
