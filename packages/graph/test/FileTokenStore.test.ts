/**
 * Tokens in a file: real files, and real processes that share one.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as ChildProcess from "effect/process/ChildProcess"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as FileTokenStore from "../src/FileTokenStore.ts"
import { TokenStore } from "../src/TokenStore.ts"
import type { Tokens } from "../src/Tokens.ts"
import { formOf, serve } from "./support/IdentityProvider.ts"
import { make } from "./support/Server.ts"

const some: Tokens = {
  accessToken: Redacted.make("AT-0"),
  refreshToken: Redacted.make("RT-0"),
  expiresAt: 1_700_000_000_000,
  scopes: ["User.Read"]
}

const withFolder = <A, E>(
  use: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, Scope.Scope | NodeServices.NodeServices>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    return yield* use(yield* fs.makeTempDirectoryScoped(), fs)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** Runs with a store on that file. */
const using = <A, E>(path: string, use: (store: TokenStore["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(TokenStore, use).pipe(Effect.provide(FileTokenStore.layer({ path })))

const secret = (value: Redacted.Redacted | null | undefined) =>
  value === null || value === undefined ? null : Redacted.value(value)

describe("a token file", () => {
  it.live("B13: is its owner's alone, in a folder that is, and nothing else is left behind", () =>
    withFolder((folder, fs) =>
      Effect.gen(function* () {
        const path = join(folder, "new", "deeper", "token.json")
        yield* using(path, (store) => store.save(some))
        assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
        assert.strictEqual((yield* fs.stat(join(folder, "new", "deeper"))).mode & 0o777, 0o700)
        assert.deepStrictEqual(yield* fs.readDirectory(join(folder, "new", "deeper")), ["token.json"])
      })
    )
  )

  it.live("one that others could read is theirs no more once it is written", () =>
    withFolder((folder, fs) =>
      Effect.gen(function* () {
        const path = join(folder, "token.json")
        yield* fs.writeFileString(path, "{}", { mode: 0o644 })
        yield* using(path, (store) => store.save(some))
        assert.strictEqual((yield* fs.stat(path)).mode & 0o777, 0o600)
      })
    )
  )

  it.live("gives back what was stored, and none when there is none", () =>
    withFolder((folder) =>
      using(join(folder, "token.json"), (store) =>
        Effect.gen(function* () {
          assert.isTrue(Option.isNone(yield* store.load))
          yield* store.save(some)
          const found = Option.getOrThrow(yield* store.load)
          assert.strictEqual(secret(found.accessToken), "AT-0")
          assert.strictEqual(secret(found.refreshToken), "RT-0")
          assert.strictEqual(found.expiresAt, some.expiresAt)
          assert.deepStrictEqual(found.scopes, some.scopes)
        })
      )
    )
  )

  const shapes: ReadonlyArray<readonly [string, unknown, string | null, string | null]> = [
    [
      "an answer with its scopes as a list and its end in seconds",
      { token_type: "Bearer", scope: ["a"], expires_in: 3599, access_token: "A", refresh_token: "R", expires_at: 5.5 },
      "A",
      "R"
    ],
    ["a refresh token alone", { refresh_token: "R" }, null, "R"],
    ["an answer as it came, without an end", { access_token: "A", refresh_token: "R", scope: "a b" }, "A", "R"],
    ["a token below `token`", { token: { access_token: "A", refresh_token: "R" } }, "A", "R"],
    ["a token below `token`, as text", { token: '{"access_token":"A"}', refresh_token: "R" }, "A", "R"]
  ]
  it.live.each(shapes)("reads %s", ([, content, access, refresh]) =>
    withFolder((folder, fs) =>
      Effect.gen(function* () {
        const path = join(folder, "token.json")
        yield* fs.writeFileString(path, JSON.stringify(content))
        const found = Option.getOrThrow(yield* using(path, (store) => store.load))
        assert.strictEqual(secret(found.accessToken), access)
        assert.strictEqual(secret(found.refreshToken), refresh)
      })
    )
  )

  it.live.each(["no JSON", "[]", '{"access_token":5}'])(
    "that holds %s is an error that names it, not its content",
    (text) =>
      withFolder((folder, fs) =>
        Effect.gen(function* () {
          const path = join(folder, "token.json")
          yield* fs.writeFileString(path, text)
          const error = yield* Effect.flip(using(path, (store) => store.load))
          assert.include(error.message, path)
          assert.include(error.message, "authorize again")
          assert.strictEqual(yield* fs.readFileString(path), text)
        })
      )
  )
})

describe("processes that share a file", () => {
  it.live("make one renewal between them, each with fifty calls at once", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const server = yield* make
        const seen = serve(server)
        const path = join(folder, "token.json")
        yield* using(path, (store) => store.save({ ...some, expiresAt: 0 }))
        const script = fileURLToPath(new URL("support/RenewingProcess.ts", import.meta.url))
        const child = Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* ChildProcess.make(process.execPath, [script, server.origin, path, "50"], {
              stdout: "ignore",
              stderr: "inherit"
            })
            return yield* handle.exitCode
          })
        )
        const codes = yield* Effect.all([child, child, child], { concurrency: 3 })
        assert.deepStrictEqual(codes.map(Number), [0, 0, 0])
        assert.lengthOf(seen.renewals(), 1)
        assert.strictEqual(formOf(seen.renewals()[0])["refresh_token"], "RT-0")
        assert.lengthOf(seen.calls(), 150)
        const left = Option.getOrThrow(yield* using(path, (store) => store.load))
        assert.strictEqual(secret(left.refreshToken), "RT-1")
      })
    )
  )

  it.live("wait for each other, and a lock whose owner is gone is free", () =>
    withFolder((folder) =>
      Effect.gen(function* () {
        const path = join(folder, "token.json")
        const other = new DatabaseSync(`${path}.lock`)
        other.exec("BEGIN EXCLUSIVE")
        const order: Array<string> = []
        const waiting = yield* Effect.forkChild(
          using(path, (store) => store.exclusive(Effect.sync(() => order.push("second")))),
          { startImmediately: true }
        )
        yield* Effect.sleep("200 millis")
        order.push("first")
        other.close()
        yield* Fiber.join(waiting)
        assert.deepStrictEqual(order, ["first", "second"])
      })
    )
  )
})
