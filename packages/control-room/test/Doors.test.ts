/**
 * Authentication of every endpoint: keys in the query, tokens of workers and of runs, signatures, and open endpoints.
 * (`Permissions.test.ts` has the keys of a workspace.) Every endpoint of the contract belongs to one of these.
 */
import { assert, layer as withLayer } from "@effect/vitest"
import { Permission, runPermissions } from "@signalbox/api/contract/Authorization"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { docsPath, openApiPath } from "../src/internal/edge/Edge.ts"
import { transferPrefix } from "../src/internal/transfers/FileLinks.ts"
import { paths } from "../src/internal/edge/Probes.ts"
import { type Endpoint, endpoints, fill, parametersOf } from "./support/Endpoints.ts"
import { requestOf, samplesOf } from "./support/Fuzz.ts"
import { type Answer, bodyAs, errorOf, multipart, send } from "./support/Http.ts"
import { quiet, seed, type Seed } from "./support/Seed.ts"
import { type RawRequest, Service } from "./support/Service.ts"

const nobody = "01900000-0000-7000-8000-000000000000"
const Identified = Schema.Struct({ id: Schema.String })

/** A workspace with one of each resource, a second one, and tokens that were valid once. */
class Setting extends Context.Service<
  Setting,
  {
    readonly own: Seed
    /** Its step run has ended. */
    readonly ended: Seed
    /** Of a worker that was deleted. */
    readonly deletedWorker: string
    readonly otherWorkspace: string
    readonly keyOfOther: string
  }
>()("test/Setting") {
  static readonly layer = Layer.effect(
    Setting,
    Effect.gen(function* () {
      const { makeKey, makeWorkspace, raw } = yield* Service
      const own = yield* seed
      const ended = yield* seed
      const bearer = (token: string): RawRequest => ({ key: null, headers: { authorization: `Bearer ${token}` } })
      const finish = `/worker-v1/step-runs/${ended.ids["step_run_id"]}/finish`
      const finished = { ...bearer(ended.tokens.worker), json: { lease_token: ended.leaseToken, error: null } }
      assert.strictEqual((yield* raw("POST", finish, finished)).status, 200)
      const unlinked = yield* raw("DELETE", "/worker-v1/link", bearer(ended.tokens.worker))
      assert.strictEqual(unlinked.status, 200)
      // Scheduled work would be mistaken for an effect of the request.
      for (const { ids } of [own, ended]) yield* raw("DELETE", `webhooks/${ids["webhook_id"]}`)
      const alive = [
        raw("POST", "/worker-v1/heartbeat", {
          ...bearer(own.tokens.worker),
          json: { step_run_ids: [own.ids["step_run_id"]] }
        }),
        ...[own, ended].map(({ ids }) => raw("POST", `assistant-runs/${ids["assistant_run_id"]}/heartbeat`))
      ]
      yield* Effect.forkScoped(Effect.repeat(Effect.all(alive), Schedule.spaced("1 second")))
      const otherWorkspace = yield* makeWorkspace
      const keyOfOther = yield* makeKey(Permission.literals, otherWorkspace)
      return { own, ended, deletedWorker: ended.tokens.worker, otherWorkspace, keyOfOther }
    })
  )
}

type Text = string | null

/** The same token with another secret. */
const wrongSecret = (token: string) => token.slice(0, -43) + token.slice(-43).split("").toReversed().join("")

/** Tokens that are valid nowhere. */
const useless = (good: string): ReadonlyArray<readonly [what: string, status: number, token: Text]> => [
  ["nothing", 401, null],
  ["an empty text", 401, ""],
  ["a malformed one", 401, "nonsense"],
  ["one cut short", 401, good.slice(0, -1)],
  ["one that is longer", 401, `${good}x`],
  ["an unknown one", 403, good.replace(/_[0-9a-f-]{36}_/, `_${nobody}_`)],
  ["another secret", 403, wrongSecret(good)]
]

const bearing = (token: Text): RawRequest => ({
  key: null,
  headers: token === null ? {} : { authorization: `Bearer ${token}` }
})

/** A body that no endpoint accepts: an authenticated request gets a 400 or a 404, and changes nothing. */
const withBody = ({ method }: Endpoint, request: RawRequest): RawRequest =>
  method === "GET" || method === "DELETE" ? request : { ...request, body: '"', headers: { ...request.headers } }

const assertRefused = (answer: Answer, status: number, what: string) => {
  assert.strictEqual(answer.status, status, `${what}: ${answer.text}`)
  assert.strictEqual(errorOf(answer).error.code, status === 401 ? "UNAUTHENTICATED" : "FORBIDDEN", what)
}

const assertLetIn = (answer: Answer, what: string) => {
  assert.notInclude([401, 403], answer.status, `${what}: ${answer.text}`)
  assert.isBelow(answer.status, 500, `${what}: ${answer.text}`)
}

const behind = (door: Endpoint["door"]) => endpoints.filter((endpoint) => endpoint.door === door)

withLayer(Layer.provideMerge(Setting.layer, quiet), { excludeTestServices: true, timeout: "4 minutes" })(
  "behind its door",
  (it) => {
    it.effect("stands every endpoint but the one at which workers trade their link token", () =>
      Effect.sync(() => {
        assert.deepStrictEqual(
          behind("none").map(({ identifier }) => identifier),
          ["linkWorker"]
        )
        assert.deepStrictEqual(
          behind("keyInQuery").map(({ identifier }) => identifier),
          ["startProcessRunFromIntegration"]
        )
        // These endpoints need only the token of a run or a worker, which have no permissions.
        assert.deepStrictEqual(
          [...behind("worker"), ...behind("run")].flatMap(({ needed }) => needed),
          []
        )
      })
    )

    it.effect("a link token is all that linking asks for", () =>
      Effect.gen(function* () {
        const { raw } = yield* Service
        const { own } = yield* Setting
        for (const [what, , token] of useless(own.linkToken)) {
          const json = { link_token: token ?? "", name: "n", tasks: [] }
          assertRefused(yield* raw("POST", "/worker-v1/link", { key: null, json }), 403, what)
        }
      })
    )

    it.effect("what needs nothing is a short list: documents and probes", () =>
      Effect.gen(function* () {
        const { key, raw } = yield* Service
        for (const path of [openApiPath, docsPath, paths.health, paths.ready]) {
          const answer = yield* raw("GET", path, { key: null })
          assert.strictEqual(answer.status, 200, path)
          // Their response is the same for everyone.
          assert.strictEqual((yield* raw("GET", path, { key })).text, answer.text, path)
          assert.notInclude(answer.text, key.slice(-43), path)
        }
      })
    )

    it.effect("bytes move with a signature, and a key is none", () =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const { own } = yield* Setting
        const before = yield* rows
        const file = own.ids["file_id"]
        const requests: ReadonlyArray<RawRequest> = [
          { key: null },
          {},
          bearing(own.tokens.run),
          bearing(own.tokens.worker)
        ]
        for (const request of requests) {
          for (const query of ["", "?signature=AAAA", "?expires=9999999999&signature="]) {
            const get = yield* raw("GET", `${transferPrefix}/files/${file}/seed.txt${query}`, request)
            assert.strictEqual(get.status, 403, get.text)
            const put = yield* raw("PUT", `${transferPrefix}/assets/${own.ids["upload_id"]}${query}`, {
              ...request,
              body: "x"
            })
            assert.strictEqual(put.status, 403, put.text)
          }
          const form = multipart([{ name: "file", filename: "f", value: "x" }])
          const headers = { ...request.headers, ...form.headers }
          const post = yield* raw("POST", `${transferPrefix}/uploads`, { ...request, ...form, headers })
          assert.strictEqual(post.status, 400, post.text)
        }
        assert.deepStrictEqual(yield* rows, before)
      })
    )

    for (const endpoint of behind("keyInQuery")) {
      it.effect(`${endpoint.identifier} opens to keys in the query alone`, () =>
        Effect.gen(function* () {
          const { key, makeKey, raw, rows, workspaceId } = yield* Service
          const { keyOfOther, otherWorkspace, own } = yield* Setting
          const { needed } = endpoint
          assert.isNotEmpty(needed)
          const others = yield* makeKey(Permission.literals.filter((permission) => !needed.includes(permission)))
          const only = yield* makeKey(needed)
          const before = yield* rows
          const ask = (token: Text, workspace: string = workspaceId, request: RawRequest = { key: null }) => {
            const path = fill(endpoint.path, (name) => (name === "workspace_id" ? workspace : nobody))
            const query = token === null ? "" : `?token=${encodeURIComponent(token)}`
            return raw(endpoint.method, path + query, request)
          }
          for (const [what, status, token] of useless(key)) assertRefused(yield* ask(token), status, what)
          assertRefused(yield* ask(null, workspaceId, {}), 401, "a key in the header")
          assertRefused(yield* ask(`RC-WSKEY ${key}`), 401, "a key with its scheme")
          assertRefused(yield* ask(keyOfOther), 403, "a key of another workspace")
          assertRefused(yield* ask(key, otherWorkspace), 403, "this key in another workspace")
          assertRefused(yield* ask(key, nobody), 403, "this key in a workspace that is not there")
          assertRefused(yield* ask(others), 403, "all permissions but the one needed")
          for (const token of [own.tokens.worker, own.tokens.run, own.assistantToken, own.linkToken]) {
            assertRefused(yield* ask(token), 403, "a token of another kind")
          }
          for (const token of [only, key]) assert.strictEqual((yield* ask(token)).status, 404)
          assert.deepStrictEqual(yield* rows, before)
        })
      )
    }

    for (const endpoint of behind("worker")) {
      it.effect(`${endpoint.identifier} opens to tokens of workers alone`, () =>
        Effect.gen(function* () {
          const { key, raw, rows } = yield* Service
          const { deletedWorker, own } = yield* Setting
          const before = yield* rows
          // The worker has a step run, so that it cannot be unlinked.
          const path = fill(endpoint.path, () => nobody)
          const ask = (token: Text) => raw(endpoint.method, path, withBody(endpoint, bearing(token)))
          for (const [what, status, token] of useless(own.tokens.worker)) {
            assertRefused(yield* ask(token), status, what)
          }
          const wrong = [
            ["an API key", key],
            ["the token of a step run", own.tokens.run],
            ["a lease token", own.leaseToken],
            ["the token of an assistant run", own.assistantToken],
            ["a link token", own.linkToken],
            ["the token of a worker that was deleted", deletedWorker]
          ] as const
          for (const [what, token] of wrong) assertRefused(yield* ask(token), 403, what)
          assertLetIn(yield* ask(own.tokens.worker), "the token of a worker")
          assert.deepStrictEqual(yield* rows, before)
        })
      )
    }

    for (const endpoint of behind("run")) {
      it.effect(`${endpoint.identifier} opens to the token of its step run alone, while that lives`, () =>
        Effect.gen(function* () {
          const { key, raw, rows } = yield* Service
          const { ended, otherWorkspace, own } = yield* Setting
          const before = yield* rows
          const ask = (token: Text, of: Seed = own, workspace = of.ids["workspace_id"] ?? "") => {
            const path = fill(endpoint.path, (name) =>
              name === "workspace_id" ? workspace : (of.robotIds[name] ?? "")
            )
            return raw(endpoint.method, path, withBody(endpoint, bearing(token)))
          }
          for (const [what, status, token] of useless(own.tokens.run)) assertRefused(yield* ask(token), status, what)
          const wrong = [
            ["an API key", key],
            ["the token of a worker", own.tokens.worker],
            ["a lease token", own.leaseToken],
            ["the token of an assistant run", own.assistantToken],
            ["a link token", own.linkToken]
          ] as const
          for (const [what, token] of wrong) assertRefused(yield* ask(token), 403, what)
          assertRefused(yield* ask(own.tokens.run, own, otherWorkspace), 403, "in another workspace")
          assertRefused(yield* ask(own.tokens.run, own, nobody), 403, "in a workspace that is not there")
          // A resource of another run is a 404, and an ended step run is reported.
          if (endpoint.method !== "DELETE") {
            const ofAnother = yield* ask(own.tokens.run, ended)
            assert.include([400, 404], ofAnother.status, ofAnother.text)
          }
          const dead = yield* ask(ended.tokens.run, ended)
          assert.include([400, 409], dead.status, dead.text)
          if (dead.status === 409) assert.strictEqual(errorOf(dead).error.code, "LEASE_LOST")
          assert.deepStrictEqual(yield* rows, before)
        })
      )
    }

    for (const endpoint of behind("key")) {
      const opens = endpoint.needed.every((permission) => runPermissions.includes(permission))
      it.effect(`${endpoint.identifier} ${opens ? "opens" : "does not open"} to tokens of runs, and to no worker`, () =>
        Effect.gen(function* () {
          const { raw, rows, workspaceId } = yield* Service
          const { ended, otherWorkspace, own } = yield* Setting
          // Created on first use.
          yield* raw("GET", `/secrets-v1/workspaces/${workspaceId}/secrets/publicKey`)
          const before = yield* rows
          const ask = (token: string, workspace: string = workspaceId) =>
            raw(
              endpoint.method,
              fill(endpoint.path, (name) => (name === "workspace_id" ? workspace : nobody)),
              withBody(endpoint, bearing(token))
            )
          for (const token of [own.tokens.run, own.assistantToken]) {
            const answer = yield* ask(token)
            if (opens) assertLetIn(answer, "the token of a run")
            else assertRefused(answer, 403, "the token of a run")
            assertRefused(yield* ask(token, otherWorkspace), 403, "in another workspace")
          }
          const dead = yield* ask(ended.tokens.run)
          assert.strictEqual(dead.status, 409, dead.text)
          assert.strictEqual(errorOf(dead).error.code, "LEASE_LOST")
          for (const token of [own.tokens.worker, own.leaseToken, own.linkToken]) {
            assertRefused(yield* ask(token), 403, "a token that opens nothing here")
          }
          assert.deepStrictEqual(yield* rows, before)
        })
      )
    }

    it.effect("what is of another workspace is not there, whatever is asked of it", () =>
      Effect.gen(function* () {
        const { origin, rows } = yield* Service
        const { keyOfOther, otherWorkspace, own } = yield* Setting
        const workspace = own.ids["workspace_id"] ?? ""
        const before = yield* rows
        const below = [...behind("key"), ...behind("keyInQuery")].filter(
          ({ identifier, path }) =>
            parametersOf(path).length > 1 ||
            ["createWorkItem", "createAssistant", "batchWorkItems", "listOutputs", "listStepRuns"].includes(identifier)
        )
        assert.isAtLeast(below.length, 45)
        for (const endpoint of below) {
          // Writing a secret or a role creates it, and the same name identifies a different one there.
          if (["putSealedSecret", "putRole"].includes(endpoint.identifier)) continue
          const samples = yield* Arbitrary.sampleEffect(samplesOf(endpoint), { count: 5, seed: 1 })
          for (const sample of samples) {
            const of = { ...own, ids: { ...own.ids, workspace_id: otherWorkspace } }
            const tokens = { ...own.tokens, key: keyOfOther, keyInQuery: keyOfOther }
            const request = requestOf(endpoint, { ...sample, mode: "valid" }, { ...of, tokens })
            const answer = yield* send(origin, request.method, request.path, request)
            assert.include([400, 404, 409], answer.status, `${request.method} ${request.path}: ${answer.text}`)
            assert.notInclude(answer.text, workspace)
          }
        }
        assert.deepStrictEqual(yield* rows, before)
      })
    )

    it.effect("a worker reaches its own step runs alone", () =>
      Effect.gen(function* () {
        const { raw, rows } = yield* Service
        const { own } = yield* Setting
        const stranger = yield* seed
        yield* raw("DELETE", `webhooks/${stranger.ids["webhook_id"]}`)
        const before = yield* rows
        const calls: ReadonlyArray<readonly [string, object]> = [
          ["start", {}],
          ["finish", { error: null }],
          ["console", { offset: 0, messages: [{ timestamp: "2026-11-20T08:15:30Z", message: "x" }] }],
          ["events", { offset: 0, events: [{ timestamp: "2026-11-20T08:15:30Z", event_type: "X" }] }],
          ["artifacts", { name: "x", size: 1 }]
        ]
        for (const [call, json] of calls) {
          // Even with its lease token, which only its worker has.
          for (const lease_token of [own.leaseToken, stranger.leaseToken, own.tokens.run]) {
            const path = `/worker-v1/step-runs/${own.ids["step_run_id"]}/${call}`
            const answer = yield* raw("POST", path, {
              ...bearing(stranger.tokens.worker),
              json: { ...json, lease_token }
            })
            assert.strictEqual(answer.status, 409, `${call}: ${answer.text}`)
            assert.strictEqual(errorOf(answer).error.code, "LEASE_LOST", call)
          }
        }
        const claimed = own.ids["step_run_id"] ?? ""
        const json = { step_run_ids: [claimed, stranger.ids["step_run_id"]] }
        const beat = yield* raw("POST", "/worker-v1/heartbeat", { ...bearing(stranger.tokens.worker), json })
        assert.deepStrictEqual(bodyAs(Schema.Struct({ lost: Schema.Array(Schema.String) }), beat).lost, [claimed])
        assert.deepStrictEqual(yield* rows, before)
        assert.isNotEmpty(bodyAs(Identified, yield* raw("GET", `step-runs/${own.ids["step_run_id"]}`)).id)
      })
    )
  }
)
