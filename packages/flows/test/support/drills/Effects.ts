/**
 * Side effects, counted outside of the journal: a server that executes a POST once for each idempotency key, and that can
 * lose, refuse or delay its responses.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

/** What a step asks for. */
export const Post = Schema.Struct({
  /** The execution. */
  n: Schema.Finite,
  name: Schema.String,
  undo: Schema.Boolean,
  /** Whether it is to be undone when the execution does not complete. */
  compensated: Schema.Boolean,
  /** A value that a step computed and only the journal has. */
  used: Schema.String
})
export interface Post extends Schema.Schema.Type<typeof Post> {}
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Post))

/**
 * `away`: refused before it is read. `unavailable`, `busy`: answered so, and not executed. `lost`: executed, and the
 * connection is reset. `hung`: executed, and never answered.
 */
export type Fault = "none" | "away" | "unavailable" | "busy" | "lost" | "hung"

export interface Arrival extends Post {
  readonly key: string
  readonly at: number
}

export interface Effects {
  readonly url: string
  /** What was executed, in order. */
  readonly executed: ReadonlyArray<Arrival>
  /** What was sent, repeats included. */
  readonly arrived: ReadonlyArray<Arrival>
  /** Decides what becomes of a request: how often it was sent before. */
  fault: (post: Arrival, before: number) => Fault
  /** Called when a request has arrived, before it is executed, and again before it is answered. */
  meanwhile: (post: Arrival, phase: "arrived" | "executed") => Promise<void> | void
}

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const start: Effect.Effect<Effects, never, import("effect/Scope").Scope> = Effect.gen(function* () {
  const executed: Array<Arrival> = []
  const arrived: Array<Arrival> = []
  const known = new Map<string, string>()
  const sent = new Map<string, number>()
  const effects = {
    url: "",
    executed,
    arrived,
    fault: (): Fault => "none",
    meanwhile: () => undefined
  } as { -readonly [K in keyof Effects]: Effects[K] }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const key = String(request.headers["idempotency-key"])
    const post: Arrival = { ...decode(await bodyOf(request)), key, at: Date.now() }
    const before = sent.get(key) ?? 0
    sent.set(key, before + 1)
    const fault = effects.fault(post, before)
    if (fault === "away") return void request.socket.destroy()
    arrived.push(post)
    await effects.meanwhile(post, "arrived")
    if (fault === "unavailable") return void response.writeHead(503).end()
    if (fault === "busy") return void response.writeHead(429, { "retry-after": "1" }).end()
    const text = JSON.stringify({ n: post.n, name: post.name, undo: post.undo })
    const there = known.get(key)
    if (there !== undefined && there !== text) return void response.writeHead(409).end()
    if (there === undefined) {
      known.set(key, text)
      executed.push(post)
    }
    await effects.meanwhile(post, "executed")
    if (fault === "lost") return void request.socket.destroy()
    if (fault === "hung") return
    response.end(JSON.stringify({ token: key }))
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const address = server.address()
  effects.url = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/`
  return effects
})

/** How an execution is to end, by the names of its effects. */
export interface Expected {
  readonly state: string
  /** At least these were executed. */
  readonly least: ReadonlyArray<string>
  /** Of those compensated, these stay; all others are undone. */
  readonly kept: ReadonlyArray<string>
}

/** What is wrong with the effects of an execution; nothing when they are as they should be. */
export const wrongWith = (
  { arrived, executed }: Pick<Effects, "executed" | "arrived">,
  n: number,
  state: string,
  expected: Expected,
  /** Whether it was retried after its end, which does again what was undone. */
  retried = false
): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const mine = executed.filter((post) => post.n === n)
  const done = mine.filter(({ undo }) => !undo)
  const undone = mine.filter(({ undo }) => undo)
  const say = (text: string) => void wrong.push(`${n}: ${text}`)
  if (state !== expected.state) say(`is ${state} instead of ${expected.state}`)
  for (const list of [done, undone]) {
    const names = list.map(({ name }) => name)
    for (const name of new Set(names.filter((name, index) => !retried && names.indexOf(name) !== index))) {
      say(`${list === undone ? "the undo of " : ""}${name} was doubled`)
    }
  }
  for (const name of expected.least) if (!done.some((post) => post.name === name)) say(`${name} was lost`)
  for (const { compensated, name } of done) {
    const times = (posts: ReadonlyArray<Arrival>) => posts.filter((post) => post.name === name).length
    const isUndone = times(done) === times(undone)
    if (times(done) - times(undone) > 1) say(`${name} was done ${times(done)} times`)
    const isKept = !compensated || expected.kept.includes(name)
    if (isKept && isUndone) say(`${name} was undone`)
    if (!isKept && !isUndone) say(`${name} was not undone`)
  }
  for (const { name } of undone) if (!done.some((post) => post.name === name)) say(`${name} was undone, and never done`)
  const used = new Map<string, string>()
  for (const post of arrived.filter((post) => post.n === n)) {
    const before = used.get(post.key) ?? post.used
    used.set(post.key, before)
    // A step that has to run again keeps its key, and may have another input.
    if (before !== post.used && !retried) say(`${post.name} was sent with ${post.used} after ${before}`)
  }
  return wrong
}
