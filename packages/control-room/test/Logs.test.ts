import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as SqlClient from "effect/sql/SqlClient"
import { assertError } from "./support/Http.ts"
import { layerIn, Service, temporaryFolder } from "./support/Service.ts"

it.live("a request that fails on our side is logged with its id and the id of its key, never the key", () =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const kept = Logger.map(Logger.formatJson, (line) => void lines.push(line))
    const folder = yield* temporaryFolder
    yield* Effect.gen(function* () {
      const { key, raw } = yield* Service
      const sql = yield* SqlClient.SqlClient
      yield* sql`ALTER TABLE webhook RENAME TO webhook_gone`
      // The secret may contain the character before it.
      const [, id = "", ...secret] = key.split("_")
      for (const given of [key, null]) {
        const headers = { "x-request-id": `request-${given === null ? "without" : "with"}` }
        const query = given === null ? `?token=${key}` : ""
        const answer = yield* raw("GET", `webhooks${query}`, { key: given, headers })
        if (given === null) assertError(answer, 401, "UNAUTHENTICATED", /no usable key/)
        else assertError(answer, 500, "UNEXPECTED_ERROR", /request-with/)
      }
      const failures = lines.filter((line) => line.includes("a request failed"))
      assert.strictEqual(failures.length, 1)
      assert.deepInclude(JSON.parse(failures[0] ?? "").annotations, { requestId: "request-with", keyId: id })
      assert.notInclude(lines.join("\n"), secret.join("_"))
    }).pipe(Effect.provide(layerIn(folder).pipe(Layer.provide(Logger.layer([kept])))))
  })
)
