/** What a call adds to its requests, and what has been received for it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { ControlRoom } from "../../ControlRoom.ts"

/** The last response of the service to a call; it changes while the call is active. */
export interface Seen {
  status: number | null
  requestId: string | null
  /** How often the last request was sent. */
  attempts: number
}

export const nothingSeen = (): Seen => ({ status: null, requestId: null, attempts: 0 })

interface CurrentCall {
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly seen: Seen
}

/** The call that a request belongs to; null outside of the client with promises. */
export const CurrentCall = Context.Reference<CurrentCall | null>("@signalbox/api/internal/promise/CurrentCall", {
  defaultValue: () => null
})

/** The same connection, whose requests to the service carry the headers of the current call, which sees what is received for it. */
const observed = (room: ControlRoom["Service"]): ControlRoom["Service"] => {
  const { connection } = room.transport
  const { client } = connection.link
  // Attempts of a request are the same request again.
  const last = new WeakMap<Seen, HttpClientRequest.HttpClientRequest>()
  const observing = HttpClient.transform(client, (sending, request) =>
    Effect.withFiber((fiber) => {
      const call = fiber.getRef(CurrentCall)
      // Signed addresses of files are of another service, as far as the program knows.
      if (call === null || !request.url.startsWith(room.baseUrl)) return sending
      const { headers, seen } = call
      seen.attempts = last.get(seen) === request ? seen.attempts + 1 : 1
      last.set(seen, request)
      const sent = headers === undefined ? sending : client.execute(HttpClientRequest.setHeaders(request, headers))
      return Effect.map(sent, (response) => {
        seen.status = response.status
        seen.requestId = response.headers["x-request-id"] ?? null
        return response
      })
    })
  )
  const link = { ...connection.link, client: observing }
  return { ...room, transport: { ...room.transport, connection: { ...connection, link } } }
}

/** The connection of a layer, with the calls of this client. */
export const layerObserved = <E, R>(layer: Layer.Layer<ControlRoom, E, R>): Layer.Layer<ControlRoom, E, R> =>
  Layer.effect(ControlRoom, Effect.map(ControlRoom, observed)).pipe(Layer.provideMerge(layer))
