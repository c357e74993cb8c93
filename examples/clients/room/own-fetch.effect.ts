/** Reaches the room through a proxy, or any `fetch`, with headers that a gateway asks for and a name of its own. */
import { ControlRoom, type Options } from "@signalbox/api/ControlRoom"
import { layer } from "@signalbox/api/node"
import * as Workspaces from "@signalbox/api/Workspaces"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"

const name = Effect.map(Workspaces.get, (workspace) => workspace.name)

export const throughFetch = (
  fetch: typeof globalThis.fetch,
  options: Options
) =>
  name.pipe(
    Effect.provide(
      ControlRoom.layer({
        ...options,
        headers: { "x-team": "billing" },
        userAgent: "invoices/2.1"
      })
    ),
    Effect.provideService(FetchHttpClient.Fetch, fetch)
  )

export const throughProxy = (proxy: string, options: Options) =>
  Effect.provide(name, layer({ ...options, proxy }))
