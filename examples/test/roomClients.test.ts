/** The programs of examples/clients/room in both styles, against one room, over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ControlRoom, type Options } from "@signalbox/api/ControlRoom"
import { type ProcessId, ProcessRunId, WorkspaceId } from "@signalbox/api/contract/Ids"
import { layerUploads } from "@signalbox/api/node"
import { type Client, connect, type Options as PromiseOptions } from "@signalbox/api/promise"
import * as WebhookSignature from "@signalbox/api/WebhookSignature"
import * as Task from "@signalbox/worker/Task"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer, request as requestOf } from "node:http"
import { type AddressInfo, connect as connectTo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Embedded from "signalbox/Embedded"
import { afterAll, beforeAll, vi } from "vitest"
import * as createOnceEffect from "../clients/room/create-once.effect.ts"
import * as createOncePromise from "../clients/room/create-once.promise.ts"
import * as errorsEffect from "../clients/room/errors.effect.ts"
import * as errorsPromise from "../clients/room/errors.promise.ts"
import * as filesEffect from "../clients/room/files.effect.ts"
import * as filesPromise from "../clients/room/files.promise.ts"
import * as manyItemsEffect from "../clients/room/many-items.effect.ts"
import * as manyItemsPromise from "../clients/room/many-items.promise.ts"
import * as ownFetchEffect from "../clients/room/own-fetch.effect.ts"
import * as ownFetchPromise from "../clients/room/own-fetch.promise.ts"
import * as pagesEffect from "../clients/room/pages.effect.ts"
import * as pagesPromise from "../clients/room/pages.promise.ts"
import * as retryFailedEffect from "../clients/room/retry-failed.effect.ts"
import * as retryFailedPromise from "../clients/room/retry-failed.promise.ts"
import * as seenRetriesEffect from "../clients/room/seen-retries.effect.ts"
import * as seenRetriesPromise from "../clients/room/seen-retries.promise.ts"
import * as setUpEffect from "../clients/room/set-up.effect.ts"
import * as setUpPromise from "../clients/room/set-up.promise.ts"
import * as timeLimitsEffect from "../clients/room/time-limits.effect.ts"
import * as timeLimitsPromise from "../clients/room/time-limits.promise.ts"
import * as typedRunEffect from "../clients/room/typed-run.effect.ts"
import * as typedRunPromise from "../clients/room/typed-run.promise.ts"
import * as unitTestsEffect from "../clients/room/unit-tests.effect.ts"
import * as unitTestsPromise from "../clients/room/unit-tests.promise.ts"
import * as webhookReceiverEffect from "../clients/room/webhook-receiver.effect.ts"
import * as webhookReceiverPromise from "../clients/room/webhook-receiver.promise.ts"
import { compare } from "./support/Compared.ts"

const price = Task.make("price", {
  input: Schema.Struct({ article: Schema.String, pieces: Schema.Finite }),
  output: Schema.Struct({ total: Schema.Finite }),
  run: ({ payload: { article, pieces } }) =>
    article === "sofa"
      ? Effect.fail(new Task.BusinessFailure({ code: "NO_PRICE", message: "no price" }))
      : Effect.succeed({ total: 30 * pieces })
})

type Style = "promises" | "Effect"
const styles: ReadonlyArray<Style> = ["promises", "Effect"]
type Fetch = typeof globalThis.fetch

const quiet: Pick<Console.Console, "log" | "error"> = { log: () => {}, error: () => {} }

interface Room {
  readonly client: Client
  readonly promise: PromiseOptions
  readonly options: Options
  readonly folder: string
  /** Runs a program with Effect over a `fetch`. */
  readonly run: <A, E>(program: Effect.Effect<A, E, ControlRoom>, fetch?: Fetch) => Promise<A>
  /** A new process, whose name nothing else has. */
  readonly processOf: (task?: string) => Promise<ProcessId>
  readonly end: () => Promise<void>
}

const start = async (): Promise<Room> => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-clients-"))
  const runtime = ManagedRuntime.make(
    Embedded.layer({ data: join(folder, "data"), port: 0, tasks: [price], allowedHosts: ["room.test"] }).pipe(
      Layer.provideMerge(Layer.merge(NodeServices.layer, Logger.layer([])))
    )
  )
  const { credentials, origin } = await runtime.runPromise(Embedded.Embedded)
  const { api_key: apiKey, workspace_id: workspaceId } = credentials
  const promise = { baseUrl: origin, apiKey, workspaceId }
  const options = { baseUrl: origin, apiKey: Redacted.make(apiKey), workspaceId: WorkspaceId.make(workspaceId) }
  const client = connect(promise)
  let count = 0
  return {
    client,
    promise,
    options,
    folder,
    run: (program, fetch = globalThis.fetch) =>
      Effect.runPromise(
        program.pipe(
          Effect.provide(Layer.provide(ControlRoom.layer(options), layerUploads), { local: true }),
          Effect.provideService(FetchHttpClient.Fetch, fetch),
          Effect.provideService(Console.Console, { ...globalThis.console, ...quiet })
        )
      ),
    processOf: async (task = "price") =>
      (await client.processes.put({ name: `${task} ${++count}`, steps: [{ name: "one", task: { name: task } }] })).id,
    end: async () => {
      await client.close()
      await runtime.dispose()
      await rm(folder, { recursive: true })
    }
  }
}

/** Sends requests, and lets the answer to the one of this number get lost. */
const losing = (lost: number, of: RegExp): Fetch => {
  let count = 0
  return async (input, init) => {
    const response = await fetch(input, init)
    if (of.test(new Request(input, init).url) && init?.method === "POST" && ++count === lost) {
      await response.arrayBuffer()
      throw new TypeError("fetch failed")
    }
    return response
  }
}

/** Answers the first requests itself. */
const refusing = (times: number, response: () => Response): Fetch => {
  let count = 0
  return async (input, init) => (++count <= times ? response() : fetch(input, init))
}

const portOf = (server: { readonly address: () => AddressInfo | string | null }) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : assert.fail("it does not listen")
}

/** A proxy to this machine, whichever host is asked for, which counts what goes through it. */
const proxy = async () => {
  let requests = 0
  const server = createServer((incoming, outgoing) => {
    requests++
    const { pathname, port } = new URL(incoming.url ?? "")
    const { headers, method } = incoming
    const sent = requestOf({ host: "127.0.0.1", port, path: pathname, method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(outgoing)
    })
    incoming.pipe(sent)
  }).on("connect", (request, socket, head) => {
    requests++
    const [, port = "80"] = (request.url ?? "").split(":")
    const target = connectTo(Number(port), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      target.write(head)
      target.pipe(socket).pipe(target)
    })
    target.on("error", () => socket.destroy())
    socket.on("error", () => target.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    address: `http://127.0.0.1:${portOf(server)}`,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

describe("programs of a control room", () => {
  let room: Room
  beforeAll(async () => {
    vi.spyOn(console, "log").mockImplementation(() => {})
    vi.spyOn(console, "error").mockImplementation(() => {})
    room = await start()
  })
  afterAll(async () => {
    vi.restoreAllMocks()
    await room.end()
  })

  /** One behaviour in both styles. */
  const both = (
    name: string,
    test: (use: <A>(promises: () => Promise<A>, effect: () => Promise<A>) => Promise<A>) => Promise<void>
  ) => {
    for (const style of styles)
      it(`${name}, with ${style}`, () => test((promises, effect) => (style === "promises" ? promises() : effect())))
  }

  both("price an order of an interface, and read outputs by a schema", async (use) => {
    const process = await room.processOf()
    const order = { article: "lamp", pieces: 2 }
    const total = await use(
      () => typedRunPromise.main(process, order, room.promise),
      () => room.run(typedRunEffect.main(process, order))
    )
    assert.strictEqual(total, 60)
  })

  both("queue failed items again, over pages", async (use) => {
    const process = await room.processOf()
    const payloads = Array.from({ length: 5 }, () => ({ article: "sofa", pieces: 1 }))
    const run = await room.client.processRuns.start(process, { payloads })
    if (!run.started) return assert.fail("not started")
    await vi.waitFor(
      async () => assert.lengthOf((await room.client.workItems.list({ process, state: "failed" })).data, 5),
      { timeout: 60_000 }
    )
    const count = await use(
      () => retryFailedPromise.main(process, room.promise),
      () => room.run(retryFailedEffect.main(process))
    )
    assert.strictEqual(count, 5)
  })

  both("read pages, and go on later where they stopped", async (use) => {
    const process = await room.processOf()
    const ids = await room.client.workItems.createMany({ process, payloads: [1, 2, 3, 4, 5] })
    const read = (kept?: string) =>
      use(
        () => pagesPromise.main(process, kept, room.promise),
        () => room.run(pagesEffect.main(process, kept))
      )
    const first = await read()
    assert.strictEqual(first.ids.length, 4)
    const second = await read(first.later)
    assert.isUndefined(second.later)
    assert.sameMembers([...first.ids, ...second.ids], [...ids])
  })

  both("create many items, and go on after a failure with those that are left", async (use) => {
    const process = await room.processOf()
    const rows = Array.from({ length: 1_500 }, (_, n) => ({ article: "lamp", pieces: n }))
    const refused = () => Response.json({ error: { code: "CONFLICT", message: "later" } }, { status: 409 })
    let requests = 0
    const failing: Fetch = async (input, init) => (++requests === 2 ? refused() : fetch(input, init))
    const ids = await use(
      () => manyItemsPromise.main(process, rows, { ...room.promise, fetch: failing }),
      () => room.run(manyItemsEffect.main(process, rows), failing)
    )
    assert.deepStrictEqual([ids.length, new Set(ids).size, requests], [1_500, 1_500, 3])
  })

  both("attach a file, and download it into a folder", async (use) => {
    const process = await room.processOf()
    const path = join(room.folder, "letter.txt")
    await writeFile(path, "Dear Ann")
    const folder = await mkdtemp(join(room.folder, "in-"))
    const written = await use(
      () => filesPromise.main(process, path, folder, room.promise),
      () => room.run(filesEffect.main(process, path, folder))
    )
    assert.deepStrictEqual(written, [join(folder, "letter.txt")])
    assert.strictEqual(await readFile(join(folder, "letter.txt"), "utf8"), "Dear Ann")
  })

  both("create an item once, although an answer is lost and the program runs again", async (use) => {
    const process = await room.processOf()
    const run = (fetch?: Fetch) =>
      use(
        () => createOncePromise.main(process, process, fetch === undefined ? room.promise : { ...room.promise, fetch }),
        () => room.run(createOnceEffect.main(process, process), fetch)
      )
    await run(losing(1, /work-items$/)).catch(() => {})
    const id = await run()
    const { data } = await room.client.workItems.list({ process })
    assert.deepStrictEqual([data.length, data[0]?.id], [1, id])
  })

  both("tell errors apart", async (use) => {
    const forget = (run: string, fetch?: Fetch) =>
      use(
        () => errorsPromise.main(run, fetch === undefined ? room.promise : { ...room.promise, fetch }),
        () => room.run(errorsEffect.main(ProcessRunId.make(run)), fetch)
      )
    const process = await room.processOf("nobody does this")
    const run = await room.client.processRuns.start(process)
    if (!run.started) return assert.fail("not started")
    assert.strictEqual(await forget("01900000-0000-7000-8000-000000000000"), "there was none")
    assert.strictEqual(await forget(run.id), "it has not ended yet")
    const slowly = refusing(9, () => new Response("", { status: 429, headers: { "retry-after": "3600" } }))
    assert.strictEqual(await forget(run.id, slowly), "too early, in 3600000 ms again")
    const logged = vi.mocked(console.error)
    logged.mockClear()
    const forbidden = refusing(1, () =>
      Response.json(
        { error: { code: "FORBIDDEN", message: "not yours" } },
        { status: 403, headers: { "x-request-id": "req-1" } }
      )
    )
    const error = await forget(run.id, forbidden).catch((error: unknown) => error)
    assert.match(String(error), /not yours/)
    await use(
      async () => assert.deepStrictEqual(logged.mock.lastCall, ["processRuns.remove", 403, "FORBIDDEN", "req-1"]),
      async () => undefined
    )
  })

  both("see retries", async (use) => {
    const lines: Array<string> = []
    const log = (line: string) => lines.push(line)
    const busy = refusing(1, () => new Response("", { status: 503 }))
    const name = await use(
      () => seenRetriesPromise.main(log, { ...room.promise, fetch: busy }),
      () => room.run(seenRetriesEffect.main(log), busy)
    )
    assert.strictEqual(name, "default")
    assert.match(lines.join("\n"), /orkspaces\.get: 503, attempt 2 in \d+ ms/)
    assert.match(lines.join("\n"), /orkspaces\.get: waits for failure/)
  })

  both("wait no longer than they want to", async (use) => {
    const process = await room.processOf("nobody does this")
    const run = await room.client.processRuns.start(process)
    if (!run.started) return assert.fail("not started")
    const { signal } = new AbortController()
    const state = await use(
      () => timeLimitsPromise.main(run.id, "0.05 seconds", signal, room.promise),
      () => room.run(timeLimitsEffect.main(run.id, "50 millis"))
    )
    assert.strictEqual(state, "still running")
  })

  both("end when a person cancels", async (use) => {
    const process = await room.processOf("nobody does this")
    const run = await room.client.processRuns.start(process)
    if (!run.started) return assert.fail("not started")
    const cancelled = await use(
      async () => {
        const abort = new AbortController()
        const waiting = timeLimitsPromise.main(run.id, "60 seconds", abort.signal, room.promise)
        abort.abort()
        return (await waiting) === "cancelled"
      },
      () =>
        room.run(
          Effect.gen(function* () {
            const fiber = yield* Effect.forkChild(timeLimitsEffect.main(run.id, "1 minute"))
            yield* Fiber.interrupt(fiber)
            return true
          })
        )
    )
    assert.isTrue(cancelled)
  })

  both("receive webhooks that the room has signed, and no others", async (use) => {
    const secret = "whsec_c2VjcmV0"
    const events: Array<string> = []
    const received = (event: WebhookSignature.WebhookEvent) => void events.push(event.action)
    const body = JSON.stringify({
      id: "event-1",
      webhookEventTimestamp: "2026-11-20T00:00:00.000Z",
      event: "process_run",
      action: "completed",
      payload: { workspaceId: "w", processId: "p", processRunId: "r", state: "completed" }
    })
    const deliver = async (origin: string) => {
      const headers = await Effect.runPromise(WebhookSignature.sign({ body, secret, id: "event-1" }))
      const forged = await Effect.runPromise(WebhookSignature.sign({ body, secret: "whsec_b3RoZXI=", id: "event-1" }))
      const send = async (headers: Record<string, string>) =>
        (await fetch(origin, { method: "POST", body, headers })).status
      return [await send(headers), await send(forged)]
    }
    const statuses = await use(
      async () => {
        const server = webhookReceiverPromise.main(secret, received).listen(0, "127.0.0.1")
        await once(server, "listening")
        try {
          return await deliver(`http://127.0.0.1:${portOf(server)}`)
        } finally {
          server.close()
        }
      },
      () => {
        const server = createServer()
        const routes = webhookReceiverEffect.main(Redacted.make(secret), (event) => Effect.sync(() => received(event)))
        const serving = HttpRouter.serve(routes, { disableLogger: true }).pipe(
          Layer.provide(NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1" }))
        )
        return Effect.runPromise(
          Effect.scoped(
            Effect.andThen(
              Layer.build(serving),
              Effect.promise(() => deliver(`http://127.0.0.1:${portOf(server)}`))
            )
          )
        )
      }
    )
    assert.deepStrictEqual([statuses, events], [[204, 401], ["completed"]])
  })

  both("use a fetch of their own, with headers and a name", async (use) => {
    const seen: Array<Headers> = []
    const own: Fetch = async (input, init) => {
      seen.push(new Request(input, init).headers)
      return fetch(input, init)
    }
    const name = await use(
      () => ownFetchPromise.throughFetch(own, room.promise),
      () => Effect.runPromise(ownFetchEffect.throughFetch(own, room.options))
    )
    assert.strictEqual(name, "default")
    assert.strictEqual(seen[0]?.get("x-team"), "billing")
    assert.match(seen[0]?.get("user-agent") ?? "", /^invoices\/2\.1 signalbox-api\//)
  })

  both("use a proxy", async (use) => {
    await using between = await proxy()
    // What is on this machine is reached without a proxy.
    const baseUrl = room.promise.baseUrl.replace("127.0.0.1", "room.test")
    const there: PromiseOptions = { ...room.promise, baseUrl }
    const name = await use(
      () => ownFetchPromise.throughProxy(between.address, there),
      () => Effect.runPromise(ownFetchEffect.throughProxy(between.address, { ...room.options, baseUrl }))
    )
    assert.deepStrictEqual([name, between.requests() > 0], ["default", true])
  })

  both("are tested without a room", async (use) => {
    const outcome = await use(unitTestsPromise.withMock, () => Effect.runPromise(unitTestsEffect.withMock))
    assert.deepStrictEqual(outcome, { quiet: true, asked: "failed", error: "Forbidden" })
  })

  both("are tested by calls that were recorded once", async (use) => {
    const file = join(await mkdtemp(join(room.folder, "recorded-")), "items.json")
    const recorded = await use(
      () => unitTestsPromise.withRecord(file, room.promise),
      () => Effect.runPromise(unitTestsEffect.withRecord(file, room.options))
    )
    const replayed = await use(
      () => unitTestsPromise.withReplay(file, room.promise),
      () => Effect.runPromise(unitTestsEffect.withReplay(file, room.options))
    )
    assert.deepStrictEqual(replayed, { quiet: recorded, unused: [] })
  })

  both("set up what a process needs, again and again", async (use) => {
    const setUp = () =>
      use(
        () => setUpPromise.main("secret", { lamp: 30 }, room.promise),
        () => room.run(setUpEffect.main(Redacted.make("secret"), { lamp: 30 }))
      )
    assert.strictEqual(await setUp(), await setUp())
  })
})

compare({
  own: "examples/clients/room",
  others: ["stripe", "octokit"].map((client) => ({
    folder: "packages/api/test/slow/clients/programs",
    ending: `.${client}.ts`
  })),
  programs: 6
})
