/** The lifetime of idempotency keys: what is asked for, and what the service grants. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { ControlRoom } from "../src/ControlRoom.ts"
import { withIdempotencyScope } from "../src/Idempotency.ts"
import { sendOnce } from "../src/Policy.ts"
import { answer, type Fault, type FaultServer, settle } from "./support/FaultServer.ts"
import { workItem, good, goodWithKeys, withServer, get, post } from "./support/Retries.ts"

/** The key headers of the requests since the last script. */
const asked = (server: FaultServer) => server.received().map((request) => request.headers["idempotency-key-ttl"])

describe("the lifetime of a key", () => {
  it.effect("is asked for by each POST of a scope that has one, and by nothing else", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([good])
        const scope = withIdempotencyScope("s", Effect.all([post, get, post]), { ttlSeconds: 604_800 })
        yield* settle(server, Effect.andThen(scope, post))
        assert.deepStrictEqual(asked(server), ["604800", undefined, "604800", undefined])
        server.script([good])
        yield* settle(server, withIdempotencyScope("s", post))
        assert.deepStrictEqual(asked(server), [undefined])
        server.script([good])
        yield* settle(server, Effect.all([post, post]).pipe(withIdempotencyScope("s", { ttlSeconds: 60 })))
        assert.deepStrictEqual(asked(server), ["60", "60"])
      })
    )
  )

  it.effect("is the same at each attempt", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([answer(503, undefined, { "idempotency-key-ttl": "60" }), good])
        yield* settle(server, withIdempotencyScope("s", post, { ttlSeconds: 60 }))
        assert.deepStrictEqual(asked(server), ["60", "60"])
      })
    )
  )

  it.effect("holds in scopes inside of the scope too, unless they have their own", () =>
    withServer((server) =>
      Effect.gen(function* () {
        server.script([good])
        const inner = withIdempotencyScope("inner", post)
        const own = withIdempotencyScope("own", post, { ttlSeconds: 60 })
        yield* settle(server, withIdempotencyScope("outer", Effect.all([inner, own]), { ttlSeconds: 3600 }))
        assert.deepStrictEqual(asked(server), ["3600", "60"])
      })
    )
  )

  it.effect("is not asked for where no keys are sent", () =>
    withServer(
      (server) =>
        Effect.gen(function* () {
          server.script([goodWithKeys])
          yield* settle(server, withIdempotencyScope("s", post, { ttlSeconds: 60 }))
          assert.deepStrictEqual(asked(server), [undefined])
          assert.isNull(yield* ControlRoom.keyLifetime(60))
        }),
      { idempotency: "ignored" }
    )
  )

  const week = 604_800
  const granted = ControlRoom.keyLifetime(week)
  const said = (seconds: number) => answer(200, workItem, { "idempotency-key-ttl": String(seconds) })
  const askFor = (server: FaultServer, fault: Fault) => {
    server.script([fault])
    return settle(server, sendOnce(Effect.exit(withIdempotencyScope("s", post, { ttlSeconds: week }))))
  }

  it.effect("is known to be granted once the service has said so, and never to be longer than it was asked for", () =>
    withServer((server) =>
      Effect.gen(function* () {
        assert.isNull(yield* granted)
        server.script([said(86_400)])
        yield* settle(server, get)
        assert.strictEqual(yield* granted, 86_400)
        yield* askFor(server, said(week))
        assert.strictEqual(yield* granted, week)
        assert.strictEqual(yield* ControlRoom.keyLifetime(60), 60)
        // That of a request without a lifetime.
        server.script([said(86_400)])
        yield* settle(server, get)
        assert.strictEqual(yield* granted, week)
      })
    )
  )

  it.effect("is what the service says when that is less, from then on", () =>
    withServer((server) =>
      Effect.gen(function* () {
        yield* askFor(server, said(week))
        yield* askFor(server, said(86_400))
        assert.strictEqual(yield* granted, 86_400)
      })
    )
  )

  it.effect("is not learned from the refusal of a request, whose key is not stored", () =>
    withServer((server) =>
      Effect.gen(function* () {
        yield* askFor(server, said(week))
        yield* askFor(server, answer(429, undefined, { "idempotency-key-ttl": "86400" }))
        assert.strictEqual(yield* granted, week)
      })
    )
  )

  it.effect("is unknown of a service that says nothing", () =>
    withServer((server) =>
      Effect.gen(function* () {
        yield* askFor(server, good)
        assert.isNull(yield* granted)
      })
    )
  )
})
