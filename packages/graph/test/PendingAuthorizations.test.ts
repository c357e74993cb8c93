/**
 * What is kept of sign-ins that have begun.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { PendingAuthorizations } from "../src/internal/login/PendingAuthorizations.ts"
import { begin } from "../src/internal/login/Redirect.ts"

const inFolder = <A, E>(effect: (path: string) => Effect.Effect<A, E, FileSystem.FileSystem | PendingAuthorizations>) =>
  Effect.gen(function* () {
    const path = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/auth_pending.json`
    return yield* Effect.provide(effect(path), PendingAuthorizations.layerFile(path))
  }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

describe("a sign-in that has begun", () => {
  it.effect("is found by its state for an hour", () =>
    inFolder(
      Effect.fnUntraced(function* () {
        const pendings = yield* PendingAuthorizations
        const pending = yield* begin("http://localhost")
        yield* pendings.keep(pending)
        yield* TestClock.adjust("59 minutes")
        const found = yield* pendings.find(pending.state)
        assert.strictEqual(Redacted.value(found.codeVerifier), Redacted.value(pending.codeVerifier))
        yield* TestClock.adjust("1 minute")
        assert.include((yield* Effect.flip(pendings.find(pending.state))).message, "within the last hour")
      })
    )
  )

  it.effect("is one of twenty", () =>
    inFolder(
      Effect.fnUntraced(function* () {
        const pendings = yield* PendingAuthorizations
        const all = yield* Effect.forEach(Array.from({ length: 21 }), () => begin("http://localhost"))
        yield* Effect.forEach(all, pendings.keep)
        const found = yield* Effect.forEach(all, ({ state }) => Effect.result(pendings.find(state)))
        assert.deepStrictEqual(
          found.map(({ _tag }) => _tag),
          ["Failure", ...Array.from({ length: 20 }, () => "Success")]
        )
      })
    )
  )

  it.effect("can begin where a file holds something else", () =>
    inFolder(
      Effect.fnUntraced(function* (path) {
        const pendings = yield* PendingAuthorizations
        yield* (yield* FileSystem.FileSystem).writeFileString(path, "[{")
        const pending = yield* begin("http://localhost")
        yield* pendings.keep(pending)
        assert.strictEqual((yield* pendings.find(pending.state)).redirectUri, "http://localhost")
      })
    )
  )
})
