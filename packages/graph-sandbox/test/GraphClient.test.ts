/**
 * The graph, as Microsoft's own client uses it: over TLS only, for it sends no token over plain HTTP.
 */
import { assert, layer } from "@effect/vitest"
import {
  BatchRequestContent,
  Client,
  FileUpload,
  GraphError,
  OneDriveLargeFileUploadTask,
  type PageCollection,
  PageIterator,
  ResponseType
} from "@microsoft/microsoft-graph-client"
import * as Effect from "effect/Effect"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import { contoso } from "./support/contoso.ts"
import { trusted } from "./support/trust.ts"

const connected = Effect.gen(function* () {
  const sandbox = yield* trusted
  const token = yield* sandbox.accessToken("ann@contoso.test")
  const client = Client.init({
    baseUrl: `${sandbox.origin}/`,
    customHosts: new Set(["localhost"]),
    authProvider: (done) => done(null, token)
  })
  return { client, sandbox }
})

const call = <A>(run: () => Promise<A>) => Effect.promise(run)

const names = (page: { readonly value: ReadonlyArray<{ readonly name: string }> }) => page.value.map(({ name }) => name)

layer(GraphSandbox.layer({ seed: contoso, tls: true }), { excludeTestServices: true })(
  "microsoft-graph-client",
  (it) => {
    it.effect("reads and searches users", () =>
      Effect.gen(function* () {
        const { client } = yield* connected
        assert.strictEqual((yield* call(() => client.api("/me").get())).displayName, "Ann Lee")
        const found = yield* call(() =>
          client.api("/users").header("ConsistencyLevel", "eventual").search('"displayName:video"').count(true).get()
        )
        assert.strictEqual(found["@odata.count"], 1)
        assert.strictEqual(found.value[0].displayName, "Joan OneVideo")
        const filtered = yield* call(() =>
          client.api("/users").filter("startswith(displayName,'Bo')").select(["id", "mail"]).get()
        )
        assert.deepStrictEqual(Object.keys(filtered.value[0]).sort(), ["id", "mail"])
      })
    )

    it.effect("iterates over pages of children", () =>
      Effect.gen(function* () {
        const { client, sandbox } = yield* connected
        for (let n = 0; n < 7; n++) {
          yield* call(() => client.api(`/me/drive/root:/Pages/${n}.txt:/content`).put(`file ${n}`))
        }
        yield* sandbox.forgetRequests
        const first: PageCollection = yield* call(() => client.api("/me/drive/root:/Pages:/children").top(3).get())
        const seen: Array<string> = []
        yield* call(() =>
          new PageIterator(client, first, (item: { readonly name: string }) => {
            seen.push(item.name)
            return true
          }).iterate()
        )
        assert.deepStrictEqual(seen, ["0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "6.txt"])
        assert.strictEqual((yield* sandbox.requests).length, 3)
      })
    )

    it.effect("uploads, downloads, moves and deletes a small file", () =>
      Effect.gen(function* () {
        const { client } = yield* connected
        const put = yield* call(() => client.api("/me/drive/root:/Small/a%20%231.txt:/content").put("hello world"))
        assert.strictEqual(put.file.hashes.quickXorHash, "aCgDG9jwBhDc4Q1yawMZAAAAAAA=")
        const bytes: ArrayBuffer = yield* call(() =>
          client.api(`/me/drive/items/${put.id}/content`).responseType(ResponseType.ARRAYBUFFER).get()
        )
        assert.strictEqual(Buffer.from(bytes).toString(), "hello world")
        const folder = yield* call(() =>
          client
            .api("/me/drive/root/children")
            .post({ name: "Moved", folder: {}, "@microsoft.graph.conflictBehavior": "fail" })
        )
        const moved = yield* call(() =>
          client.api(`/me/drive/items/${put.id}`).patch({ name: "b.txt", parentReference: { id: folder.id } })
        )
        assert.strictEqual(moved.parentReference.path, `/drives/${moved.parentReference.driveId}/root:/Moved`)
        yield* call(() => client.api(`/me/drive/items/${put.id}`).delete())
        const error: unknown = yield* call(() =>
          client
            .api("/me/drive/root:/Moved/b.txt")
            .get()
            .catch((error: unknown) => error)
        )
        assert.instanceOf(error, GraphError)
        assert.deepInclude(error, { statusCode: 404, code: "itemNotFound" })
      })
    )

    it.effect("uploads a large file in fragments, and reads it back whole", () =>
      Effect.gen(function* () {
        const { client } = yield* connected
        const bytes = Buffer.alloc(3 * 327_680 + 1)
        for (let i = 0; i < bytes.length; i++) bytes[i] = i % 251
        const progress: Array<number> = []
        const task = yield* call(() =>
          OneDriveLargeFileUploadTask.createTaskWithFileObject(
            client,
            new FileUpload(bytes, "large.bin", bytes.length),
            {
              path: "/Large",
              fileName: "large.bin",
              rangeSize: 327_680,
              uploadEventHandlers: { progress: (range) => progress.push(range?.maxValue ?? -1) }
            }
          )
        )
        const { responseBody } = yield* call(() => task.upload())
        assert.deepInclude(responseBody, { name: "large.bin", size: bytes.length })
        assert.deepStrictEqual(progress.slice(0, 3), [327_679, 655_359, 983_039])
        const read: ArrayBuffer = yield* call(() =>
          client.api("/me/drive/root:/Large/large.bin:/content").responseType(ResponseType.ARRAYBUFFER).get()
        )
        assert.isTrue(Buffer.from(read).equals(bytes))
      })
    )

    it.effect("runs a batch in which one request waits for another", () =>
      Effect.gen(function* () {
        const { client } = yield* connected
        const requests = new BatchRequestContent([
          { id: "1", request: new Request("https://graph.microsoft.com/me", { method: "GET" }) },
          {
            id: "2",
            request: new Request("https://graph.microsoft.com/me/drive/root:/none.txt", { method: "GET" }),
            dependsOn: ["1"]
          }
        ])
        const content = yield* call(() => requests.getContent())
        const { responses } = yield* call(() => client.api("/$batch").post(content))
        const status = responses.map((response: { readonly id: string; readonly status: number }) => response.status)
        assert.deepStrictEqual(status, [200, 404])
        assert.strictEqual(responses[0].body.displayName, "Ann Lee")
      })
    )

    it.effect("follows what changes by delta", () =>
      Effect.gen(function* () {
        const { client } = yield* connected
        const first = yield* call(() => client.api("/me/drive/root/delta").get())
        assert.includeMembers(names(first), ["root", "Docs", "a #1%.txt"])
        const made = yield* call(() => client.api("/me/drive/root:/Changes/new.txt:/content").put("new"))
        const second = yield* call(() => client.api(first["@odata.deltaLink"]).get())
        assert.sameMembers(names(second), ["root", "Changes", "new.txt"])
        yield* call(() => client.api(`/me/drive/items/${made.id}`).delete())
        const third = yield* call(() => client.api(second["@odata.deltaLink"]).get())
        const gone = third.value.find(({ id }: { readonly id: string }) => id === made.id)
        assert.deepStrictEqual(gone.deleted, { state: "deleted" })
      })
    )

    it.effect("waits and tries again when it is throttled", () =>
      Effect.gen(function* () {
        const { client, sandbox } = yield* connected
        yield* sandbox.setFaults({ rules: [{ fault: "throttle", path: "/me$", times: 1, seconds: 1 }] })
        assert.strictEqual((yield* call(() => client.api("/me").get())).displayName, "Ann Lee")
        const tried = (yield* sandbox.requests).filter(({ url }) => url === "/v1.0/me").slice(-2)
        assert.deepStrictEqual(
          tried.map(({ status }) => status),
          [429, 200]
        )
        yield* sandbox.clearFaults
      })
    )
  }
)
