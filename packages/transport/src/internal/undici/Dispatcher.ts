/** The dispatcher of undici behind the HTTP client: which proxy a request uses, and its idle limit. */
import type * as Undici from "undici"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Readable } from "node:stream"
import { getCACertificates } from "node:tls"
import { defined } from "../../Defined.ts"
import { isLoopback, type Proxies } from "./Proxies.ts"

/** How long a proxy may take to open a tunnel. */
const tunnelMillis = 30_000

/** Bodies in memory are written in pieces of this size, so that undici notices when the peer stops reading. */
const pieceBytes = 64 * 1024

/** The options of a request with an idle limit. */
export interface Limited extends Partial<Undici.Dispatcher.RequestOptions> {
  readonly idleMillis: number
}

function* pieces(bytes: Uint8Array) {
  for (let from = 0; from < bytes.length; from += pieceBytes) yield bytes.subarray(from, from + pieceBytes)
}

type Options = Undici.Dispatcher.DispatchOptions

/**
 * Applies the idle limit of a request. For bodies that are streams, undici restarts `headersTimeout` whenever the peer
 * takes bytes, ignores it while it waits for the source, and counts it again when all is sent; `bodyTimeout` does not
 * count while the consumer does not read. For bodies in memory it would count from the beginning, so they are converted
 * to streams.
 */
const limitIdle: Undici.Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options: Options, handler) => {
  const idle = "idleMillis" in options ? options.idleMillis : undefined
  if (typeof idle !== "number") return dispatch(options, handler)
  const { body } = options
  const watched = body instanceof Uint8Array && body.length > pieceBytes ? Readable.from(pieces(body)) : body
  const limits = { headersTimeout: idle, bodyTimeout: idle, body: watched ?? null }
  return dispatch({ ...options, ...limits }, handler)
}

const scoped = <D extends Undici.Dispatcher>(create: () => D): Effect.Effect<D, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.sync(create), (dispatcher) => Effect.promise(() => dispatcher.destroy()))

/** A dispatcher of the program's own, with idle limits. */
export const limited = (dispatcher: Undici.Dispatcher): Undici.Dispatcher => dispatcher.compose(limitIdle)

/**
 * Creates the dispatcher; requests to this computer never go through a proxy. `ca`: certificates that are trusted besides those of
 * Node.
 */
export const make = Effect.fnUntraced(function* (
  proxies: Proxies,
  ca: ReadonlyArray<string> = []
): Effect.fn.Return<Undici.Dispatcher, never, Scope.Scope> {
  // Loaded on demand, because it is most of the client's import cost. By its file: Bun replaces `undici` by a part of it.
  const undici = yield* Effect.promise(() => import("undici/index.js"))
  const tls = ca.length === 0 ? undefined : { ca: [...getCACertificates("default"), ...ca] }
  const trust = defined({ connect: tls })
  const direct = yield* scoped(() => new undici.Agent(trust))
  if (proxies.httpProxy === "" && proxies.httpsProxy === "") return direct.compose(limitIdle)
  const proxied = yield* scoped(
    () =>
      new undici.EnvHttpProxyAgent({
        ...proxies,
        ...trust,
        ...defined({ requestTls: tls, proxyTls: tls }),
        clientFactory: (origin, options) => new undici.Pool(origin, { ...options, headersTimeout: tunnelMillis })
      })
  )
  const choose: Undici.Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options: Options, handler) =>
    options.origin !== undefined && isLoopback(options.origin)
      ? direct.dispatch({ ...options, origin: options.origin }, handler)
      : dispatch(options, handler)
  return proxied.compose(choose, limitIdle)
})
