/**
 * Mailboxes, as a bare client sees them: what the service says on the wire, and where it refuses.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { request } from "node:http"
import { GraphSandbox } from "../src/GraphSandbox.ts"
import type { Seed } from "../src/Seed.ts"
import { asking, fetched } from "./support/Asking.ts"

const mail = (n: number) => ({
  subject: `Mail ${n}`,
  from: "Joan <joan@partner.test>",
  body: `Number <${n}>`,
  receivedDateTime: `2030-01-0${n}T10:00:00Z`
})

const seed: Seed = {
  users: [
    { userPrincipalName: "ann@contoso.test", displayName: "Ann Lee", mailbox: { mails: [1, 2, 3].map(mail) } },
    { userPrincipalName: "team@contoso.test", displayName: "Team", mailbox: { mails: [mail(4)] } }
  ]
}

const immutable = { headers: { prefer: 'IdType="ImmutableId"' } }
const ask = Effect.flatMap(GraphSandbox, (sandbox) => asking(sandbox, "ann@contoso.test"))
const bytes = (size: number) => Buffer.alloc(size, "a")

layer(GraphSandbox.layer({ seed }), { excludeTestServices: true })("a mailbox", (it) => {
  it.effect("shows messages page by page, those received last first, with bodies as HTML", () =>
    Effect.gen(function* () {
      const get = yield* ask
      const first = yield* get("/me/mailFolders/inbox/messages?$top=2&$count=true")
      const subjects = (page: typeof first) => page.body.value.map(({ subject }: { subject: string }) => subject)
      assert.deepStrictEqual([first.body["@odata.count"], subjects(first)], [3, ["Mail 3", "Mail 2"]])
      const next = yield* get(first.body["@odata.nextLink"])
      assert.deepStrictEqual([subjects(next), next.body["@odata.nextLink"]], [["Mail 1"], undefined])
      assert.deepStrictEqual(next.body.value[0].body, {
        contentType: "html",
        content: "<html><head></head><body>Number &lt;1&gt;</body></html>"
      })
      assert.strictEqual(next.body.value[0].bodyPreview, "Number <1>")
      assert.strictEqual(next.body.value[0].from.emailAddress.name, "Joan")
    })
  )

  it.effect("has an id of a message that changes when it is moved, and one that does not", () =>
    Effect.gen(function* () {
      const get = yield* ask
      const url = "/me/messages?$filter=subject eq 'Mail 1'&$select=id"
      const regular = (yield* get(url)).body.value[0].id
      const fixed = (yield* get(url, immutable)).body.value[0].id
      assert.notStrictEqual(regular, fixed)
      const moved = yield* get(`/me/messages/${regular}/move`, { method: "POST", json: { destinationId: "archive" } })
      assert.deepStrictEqual([moved.status, moved.body.id === regular], [201, false])
      const gone = yield* get(`/me/messages/${regular}`)
      assert.deepStrictEqual([gone.status, gone.body.error.code], [404, "ErrorItemNotFound"])
      assert.strictEqual((yield* get(`/me/messages/${fixed}`, immutable)).body.id, fixed)
    })
  )

  it.effect.each([
    ["$filter=colour eq 'red'", "BadRequest"],
    ["$filter=subject is 'a'", "BadRequest"],
    ["$select=colour", "BadRequest"],
    ['$search="a"&$filter=isRead eq true', "SearchWithFilter"],
    ['$search="a"&$orderby=subject', "SearchWithOrderBy"],
    ["$search=subject:a", "ErrorInvalidRequest"],
    ['$search="colour:red"', "ErrorInvalidRequest"],
    ["$filter=isRead eq true&$orderby=receivedDateTime", "InefficientFilter"],
    ["$top=0", "Request_BadRequest"]
  ])("refuses a query that it does not understand: %s", ([query, code]) =>
    Effect.gen(function* () {
      const get = yield* ask
      const { body, status } = yield* get(`/me/messages?${query}`)
      assert.deepStrictEqual([status, body.error.code], [400, code])
    })
  )

  it.effect("takes requests of at most 4 MB, and larger files in a session, in order", () =>
    Effect.gen(function* () {
      const get = yield* ask
      const draft = (yield* get("/me/messages", { method: "POST", json: { subject: "Large" } })).body
      const attachments = `/me/messages/${draft.id}/attachments`
      const contentBytes = bytes(3_200_000).toString("base64")
      const inline = yield* get(attachments, { method: "POST", json: { name: "a", contentBytes } })
      assert.deepStrictEqual(
        [inline.status, inline.body.error.message],
        [413, "The maximum request length supported is 4MB."]
      )
      const session = (size: number) =>
        get(`${attachments}/createUploadSession`, {
          method: "POST",
          json: { AttachmentItem: { attachmentType: "file", name: "a.bin", size } }
        })
      const small = yield* session(1000)
      assert.strictEqual(small.body.error.code, "ErrorAttachmentSizeShouldNotBeLessThanMinimumSize")
      const { body, status } = yield* session(3_200_000)
      assert.deepStrictEqual([status, body.nextExpectedRanges], [201, ["0-"]])
      const put = (from: number, to: number, headers: Record<string, string> = {}) =>
        fetched(body.uploadUrl, {
          method: "PUT",
          body: bytes(to - from),
          headers: { "content-range": `bytes ${from}-${to - 1}/3200000`, ...headers }
        })
      assert.strictEqual((yield* put(0, 1000, { authorization: "Bearer t" })).status, 401)
      const accepted = yield* put(0, 1_000_000)
      assert.deepStrictEqual([accepted.status, accepted.body.nextExpectedRanges], [200, ["1000000"]])
      assert.strictEqual((yield* put(2_000_000, 3_200_000)).status, 416)
      const last = yield* put(1_000_000, 3_200_000)
      assert.deepStrictEqual([last.status, last.bytes.length], [201, 0])
      const id = /Attachments\('([^']+)'\)$/.exec(last.headers.get("location") ?? "")?.[1]
      const value = yield* get(`${attachments}/${id}/$value`)
      assert.deepStrictEqual([value.status, value.bytes.length], [200, 3_200_000])
      const batch = { requests: [{ id: "1", method: "GET", url: `${attachments}?$select=name,size` }] }
      const [part] = (yield* get("/$batch", { method: "POST", json: batch })).body.responses
      assert.strictEqual(part.body.value[0].name, "a.bin")
      assert.isAbove(part.body.value[0].size, 3_200_000)
    })
  )

  it.effect("tells in the first round what is there, and later only changes of the kind that is wanted", () =>
    Effect.gen(function* () {
      const get = yield* ask
      const sandbox = yield* GraphSandbox
      const inbox = "/users/team@contoso.test/mailFolders/inbox/messages"
      yield* sandbox.deliver("team@contoso.test", { subject: "Mail 5" })
      const message = (yield* get(`${inbox}?$filter=subject eq 'Mail 4'`)).body.value[0].id
      const read = (path: string) => get(path, { method: "PATCH", json: { isRead: true } })
      yield* read(`${inbox}/${message}`)
      const first = yield* get(`${inbox}/delta?changeType=created&$select=subject`, {
        headers: { prefer: "odata.maxpagesize=1" }
      })
      const second = yield* get(first.body["@odata.nextLink"], { headers: { prefer: "odata.maxpagesize=1" } })
      const rows = [...first.body.value, ...second.body.value]
      assert.deepStrictEqual(rows.map(({ subject }) => subject).sort(), ["Mail 4", "Mail 5"])
      yield* read(`${inbox}/${message}`)
      yield* sandbox.deliver("team@contoso.test", { subject: "Mail 6" })
      const next = yield* get(second.body["@odata.deltaLink"])
      assert.deepStrictEqual(
        next.body.value.map(({ subject }: { subject: string }) => subject),
        ["Mail 6"]
      )
      const wrong = yield* get(`${inbox}/delta?$filter=isRead eq true`)
      assert.strictEqual(wrong.status, 400)
      assert.strictEqual((yield* get("/me/messages/delta")).status, 400)
    })
  )

  it.effect("gets mails from tests, also over HTTP", () =>
    Effect.gen(function* () {
      const { deliver, origin } = yield* GraphSandbox
      const get = yield* ask
      const post = (json: unknown) => fetched(`${origin}/sandbox/mails`, { method: "POST", json })
      const attachments = [{ name: "a.pdf", content: { base64: "aGVsbG8=" } }]
      const delivered = yield* post({ user: "ann@contoso.test", mail: { subject: "Over HTTP", attachments } })
      const { body } = yield* get("/me/messages?$filter=subject eq 'Over HTTP'")
      assert.deepStrictEqual(body.value[0].internetMessageId, delivered.body.internetMessageId)
      const [attachment] = (yield* get(`/me/messages/${body.value[0].id}/attachments`)).body.value
      assert.deepStrictEqual([attachment.name, attachment.contentBytes], ["a.pdf", "aGVsbG8="])
      assert.strictEqual((yield* post({ user: "nobody@contoso.test", mail: {} })).status, 404)
      assert.strictEqual((yield* post({ user: "ann@contoso.test", mail: { subject: 1 } })).status, 400)
      const error = yield* Effect.flip(deliver("nobody@contoso.test", {}))
      assert.strictEqual(error.message, "no user is 'nobody@contoso.test'")
    })
  )
})

/** A request whose body does not come before `end`. */
const open = (url: string, token: string) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": 2 }
  const sent = request(url, { method: "POST", headers })
  const status = new Promise<number>((resolve, reject) => {
    sent.on("response", (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    sent.on("error", reject)
  })
  sent.flushHeaders()
  return { end: () => sent.end("{}"), status }
}

describe("the index of a search", () => {
  it.live("is behind for as long as the sandbox is told", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const get = yield* asking(sandbox)
      yield* sandbox.deliver("ann@contoso.test", { subject: "Old", receivedDateTime: "2020-01-01T00:00:00Z" })
      yield* sandbox.deliver("ann@contoso.test", { subject: "New" })
      const listed = yield* get("/me/messages?$filter=subject eq 'New'")
      const found = yield* get('/me/messages?$search="subject:old OR subject:new"')
      const subjects = [listed, found].map(({ body }) => body.value.map(({ subject }: { subject: string }) => subject))
      assert.deepStrictEqual(subjects, [["New"], ["Old"]])
    }).pipe(Effect.provide(GraphSandbox.layer({ seed, mailSearchSeconds: 3600 })))
  )
})

describe("throttling of a mailbox", () => {
  it.live("refuses a fifth request of an app at a time, and only to the same mailbox", () =>
    Effect.gen(function* () {
      const sandbox = yield* GraphSandbox
      const token = yield* sandbox.accessToken()
      const get = yield* asking(sandbox)
      const opened = [1, 2, 3, 4].map(() => open(`${sandbox.graphUrl}/me/messages`, token))
      const refused = yield* Effect.gen(function* () {
        for (;;) {
          const answer = yield* get("/me/messages")
          if (answer.status !== 200) return answer
        }
      })
      assert.deepStrictEqual(
        [refused.status, refused.body.error.code, refused.headers.get("retry-after")],
        [429, "ApplicationThrottled", "1"]
      )
      assert.strictEqual((yield* get("/users/team@contoso.test/messages")).status, 200)
      for (const { end } of opened) end()
      assert.deepStrictEqual(
        yield* Effect.promise(() => Promise.all(opened.map(({ status }) => status))),
        [201, 201, 201, 201]
      )
      assert.strictEqual((yield* get("/me/messages")).status, 200)
    }).pipe(Effect.provide(GraphSandbox.layer({ seed })))
  )
})

describe("scopes of mail", () => {
  const cases: ReadonlyArray<readonly [scope: string, method: "GET" | "POST", path: string, permitted: boolean]> = [
    ["Mail.Read", "GET", "/me/messages", true],
    ["Mail.Read", "GET", "/me/mailFolders/inbox/messages/delta", true],
    ["Mail.Read", "GET", "/users/team@contoso.test/messages", false],
    ["Mail.Read.Shared", "GET", "/users/team@contoso.test/messages", true],
    ["Mail.Read.Shared", "GET", "/me/messages", true],
    ["Mail.Read", "POST", "/me/messages", false],
    ["Mail.ReadWrite", "POST", "/me/messages", true],
    ["Mail.ReadWrite", "POST", "/me/mailFolders", true],
    ["Mail.ReadWrite", "POST", "/users/team@contoso.test/messages", false],
    ["Mail.ReadWrite.Shared", "POST", "/users/team@contoso.test/messages", true],
    ["Mail.ReadWrite", "POST", "/me/sendMail", false],
    ["Mail.Send", "POST", "/me/sendMail", true],
    ["Mail.Send", "POST", "/users/team@contoso.test/sendMail", false],
    ["Mail.Send.Shared", "POST", "/users/team@contoso.test/sendMail", true],
    ["Mail.Send", "GET", "/me/messages", false],
    ["User.Read.All", "GET", "/me/messages", false]
  ]
  const message = { toRecipients: [{ emailAddress: { address: "ann@contoso.test" } }] }
  const bodyOf = (path: string) =>
    path.endsWith("sendMail") ? { message } : path.endsWith("mailFolders") ? { displayName: "Later" } : {}

  layer(GraphSandbox.layer({ seed, enforceScopes: true }), { excludeTestServices: true })("as a person", (it) => {
    it.effect.each(cases)("%s for %s %s: %s", ([scope, method, path, permitted]) =>
      Effect.gen(function* () {
        const { accessToken, graphUrl } = yield* GraphSandbox
        const authorization = `Bearer ${yield* accessToken("ann@contoso.test", [scope])}`
        const init = method === "GET" ? {} : { json: bodyOf(path) }
        const { body, status } = yield* fetched(`${graphUrl}${path}`, { method, headers: { authorization }, ...init })
        if (permitted) return assert.isBelow(status, 300, JSON.stringify(body))
        assert.deepStrictEqual([status, body.error.code], [403, "ErrorAccessDenied"])
      })
    )
  })

  layer(
    GraphSandbox.layer({
      seed: {
        ...seed,
        apps: [
          { clientId: "a", secret: "s", platform: "web", redirectUris: ["http://localhost"], roles: ["Mail.Read"] }
        ]
      },
      enforceScopes: true
    }),
    { excludeTestServices: true }
  )("as an app", (it) => {
    it.effect("a role holds for all mailboxes", () =>
      Effect.gen(function* () {
        const { appToken, graphUrl } = yield* GraphSandbox
        const headers = { authorization: `Bearer ${yield* appToken}` }
        const team = `${graphUrl}/users/team@contoso.test`
        assert.strictEqual((yield* fetched(`${team}/messages`, { headers })).status, 200)
        assert.strictEqual((yield* fetched(`${team}/messages`, { headers, method: "POST", json: {} })).status, 403)
        assert.strictEqual(
          (yield* fetched(`${team}/sendMail`, { headers, method: "POST", json: { message } })).status,
          403
        )
      })
    )
  })
})
