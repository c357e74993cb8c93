import { assert, describe, it } from "@effect/vitest"
import { defined } from "@signalbox/transport/Defined"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { createHmac } from "node:crypto"
import { expectTypeOf } from "vitest"
import { InvalidSignature, verifyWebhook } from "../src/Webhook.ts"
import * as Webhooks from "../src/Webhooks.ts"
import type { VerifyOptions } from "../src/WebhookSignature.ts"

/** The test vector of the reference libraries of Standard Webhooks. */
const published = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  body: '{"test": 2432232314}',
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1614265330,
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
}
const headers = {
  "webhook-id": published.id,
  "webhook-timestamp": String(published.timestamp),
  "webhook-signature": published.signature
}
const genuine: VerifyOptions = { secret: published.secret, headers, body: published.body }

/** Why a delivery is refused at the time of the vector, null when it is accepted. */
const refusal = (options: VerifyOptions, secondsLater = 0) =>
  Effect.gen(function* () {
    yield* TestClock.setTime((published.timestamp + secondsLater) * 1000)
    const result = yield* Effect.result(Webhooks.verify(options))
    return Result.isFailure(result) ? result.failure.reason : null
  })

describe("Standard Webhooks", () => {
  it.effect("the published vector is signed and verified", () =>
    Effect.gen(function* () {
      const made = yield* Webhooks.sign(published)
      assert.strictEqual(made["webhook-signature"], published.signature)
      assert.strictEqual(made["webhook-id"], published.id)
      assert.strictEqual(made["webhook-timestamp"], "1614265330")
      assert.isNull(yield* refusal(genuine))
      assert.isNull(yield* refusal({ ...genuine, secret: Redacted.make(published.secret) }))
      assert.isNull(yield* refusal({ ...genuine, body: new TextEncoder().encode(published.body) }))
      assert.isNull(yield* refusal({ ...genuine, headers: new Headers(headers) }))
      const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
      assert.isNull(yield* refusal({ ...genuine, headers: upper }))
    })
  )

  it.effect("a delivery is valid for five minutes in both directions, or as configured", () =>
    Effect.gen(function* () {
      assert.isNull(yield* refusal(genuine, 300))
      assert.isNull(yield* refusal(genuine, -300))
      assert.strictEqual(yield* refusal(genuine, 301), "expired")
      assert.strictEqual(yield* refusal(genuine, -301), "expired")
      assert.isNull(yield* refusal({ ...genuine, toleranceSeconds: 3600 }, 3600))
    })
  )

  it.effect("what was changed on the way is refused", () =>
    Effect.gen(function* () {
      const changes: ReadonlyArray<Partial<VerifyOptions>> = [
        { body: '{"test":2432232314}' },
        { secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" },
        { secret: published.secret.slice("whsec_".length) },
        { headers: { ...headers, "webhook-id": "msg_other" } },
        { headers: { ...headers, "webhook-timestamp": String(published.timestamp + 1) } },
        { headers: { ...headers, "webhook-signature": `v1,${"A".repeat(43)}=` } },
        { headers: { ...headers, "webhook-signature": "v1,AAAA" } },
        { secret: [] },
        { secret: "" }
      ]
      for (const change of changes) assert.strictEqual(yield* refusal({ ...genuine, ...change }), "mismatch")
    })
  )

  it.effect("headers that are missing or unreadable are refused as such", () =>
    Effect.gen(function* () {
      for (const name of ["webhook-id", "webhook-timestamp"]) {
        assert.strictEqual(yield* refusal({ ...genuine, headers: { ...headers, [name]: undefined } }), "missing")
      }
      assert.strictEqual(yield* refusal({ ...genuine, scheme: "standard", headers: {} }), "missing")
      const malformed = [
        { ...headers, "webhook-timestamp": "yesterday" },
        { ...headers, "webhook-timestamp": "1614265330.5" },
        { ...headers, "webhook-signature": "v2,AAAA" },
        { ...headers, "webhook-signature": "v1,###" },
        { ...headers, "webhook-signature": "" }
      ]
      for (const given of malformed) assert.strictEqual(yield* refusal({ ...genuine, headers: given }), "malformed")
    })
  )

  it.effect("one good signature, and one good secret, among several is enough", () =>
    Effect.gen(function* () {
      const several = `v1,${"A".repeat(43)}= v2,AAAA ${published.signature}`
      assert.isNull(yield* refusal({ ...genuine, headers: { ...headers, "webhook-signature": several } }))
      assert.isNull(
        yield* refusal({ ...genuine, secret: ["whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", published.secret] })
      )
    })
  )

  it.effect("a secret without prefix, or whose rest is no base64, counts by its UTF-8 bytes", () =>
    Effect.gen(function* () {
      for (const secret of ["pässword", "whsec_%%%"]) {
        const made = yield* Webhooks.sign({ ...published, secret })
        const expected = createHmac("sha256", Buffer.from(secret, "utf8"))
          .update(`${published.id}.${published.timestamp}.${published.body}`)
          .digest("base64")
        assert.strictEqual(made["webhook-signature"], `v1,${expected}`)
        assert.isNull(yield* refusal({ ...genuine, secret, headers: { ...made } }))
      }
    })
  )
})

describe("x-rc-signature", () => {
  const rc = (secret: string, body: string) => createHmac("sha256", secret).update(body).digest("hex")

  it.effect("is the hex HMAC of the raw body under the secret as text", () =>
    Effect.gen(function* () {
      const made = yield* Webhooks.sign(published)
      assert.strictEqual(made["x-rc-signature"], rc(published.secret, published.body))
      const only = { "x-rc-signature": made["x-rc-signature"] }
      assert.isNull(yield* refusal({ ...genuine, headers: only }, 1_000_000))
      assert.strictEqual(yield* refusal({ ...genuine, headers: only, body: "{}" }), "mismatch")
      assert.strictEqual(yield* refusal({ ...genuine, headers: only, secret: "other" }), "mismatch")
      assert.strictEqual(yield* refusal({ ...genuine, headers: { "x-rc-signature": "sha256=00" } }), "malformed")
      assert.strictEqual(yield* refusal({ ...genuine, headers: { "x-rc-signature": "00" } }), "mismatch")
      assert.strictEqual(yield* refusal({ ...genuine, headers: {} }), "missing")
    })
  )

  it.effect("does not accept a delivery whose other signature is wrong or too old, unless configured", () =>
    Effect.gen(function* () {
      const both = { ...headers, "x-rc-signature": rc(published.secret, published.body) }
      assert.strictEqual(yield* refusal({ ...genuine, headers: both }, 400), "expired")
      assert.isNull(yield* refusal({ ...genuine, headers: both, scheme: "rc" }, 400))
      const stripped = { "x-rc-signature": both["x-rc-signature"] }
      assert.strictEqual(yield* refusal({ ...genuine, headers: stripped, scheme: "standard" }), "missing")
    })
  )
})

describe("receiving", () => {
  const event = {
    id: "e1",
    webhookEventTimestamp: "2026-11-20T08:15:30.000Z",
    event: "process_run",
    action: "completed",
    payload: {
      workspaceId: "ws1",
      processId: "p1",
      processName: "orders",
      processRunId: "r1",
      state: "completed",
      seqNo: 2,
      startedAt: "2026-11-20T08:14:30.000Z",
      endedAt: "2026-11-20T08:15:30.000Z",
      duration: 60,
      result: "success",
      errorCode: null,
      pause: null
    }
  }

  it.effect("returns the event of a genuine delivery", () =>
    Effect.gen(function* () {
      const body = JSON.stringify(event)
      const signed = yield* Webhooks.sign({ body, secret: published.secret, id: event.id })
      const received = yield* Webhooks.receive({ body, secret: published.secret, headers: { ...signed } })
      assert.deepStrictEqual(JSON.parse(JSON.stringify(received)), event)
    })
  )

  it.effect("refuses a forged one before it is read, and says when a genuine one is no event", () =>
    Effect.gen(function* () {
      const signed = yield* Webhooks.sign({ body: "{}", secret: published.secret, id: "e1" })
      const deliver = (body: string) =>
        Effect.map(
          Effect.flip(Webhooks.receive({ body, secret: published.secret, headers: { ...signed } })),
          (error) => error._tag
        )
      assert.strictEqual(yield* deliver("{}"), "UnreadableEvent")
      assert.strictEqual(yield* deliver("not json"), "InvalidSignature")
      assert.strictEqual(
        (yield* Effect.flip(Webhooks.sign({ body: "{}", secret: "", id: "e1" })))._tag,
        "InvalidSignature"
      )
    })
  )
})

it("verifying needs nothing and fails with one error", () => {
  expectTypeOf(Webhooks.verify).returns.toEqualTypeOf<Effect.Effect<void, Webhooks.InvalidSignature>>()
  expectTypeOf(Webhooks.receive).returns.toEqualTypeOf<
    Effect.Effect<Webhooks.WebhookEvent, Webhooks.InvalidSignature | Webhooks.UnreadableEvent>
  >()
})

describe("verifyWebhook, without effect", () => {
  const body = '{"of":"a run"}'
  const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
  const signed = (timestamp?: number) =>
    Effect.runPromise(Webhooks.sign({ body, secret, id: "1", ...defined({ timestamp }) }))

  it("resolves for what was signed with the secret, by either scheme", async () => {
    const headers = await signed()
    await verifyWebhook({ headers, body, secret })
    await verifyWebhook({
      headers: new Headers(headers),
      body: new TextEncoder().encode(body),
      secret: ["old", secret]
    })
    await verifyWebhook({ headers: await signed(1), body, secret, scheme: "rc" })
  })

  it("rejects with InvalidSignature, which says why", async () => {
    const headers = await signed()
    const reasonOf = (options: Parameters<typeof verifyWebhook>[0]) =>
      verifyWebhook(options).catch((error: unknown) => (error instanceof InvalidSignature ? error.reason : error))
    assert.strictEqual(await reasonOf({ headers, body: `${body} `, secret }), "mismatch")
    assert.strictEqual(await reasonOf({ headers, body, secret: "" }), "mismatch")
    assert.strictEqual(await reasonOf({ headers: {}, body, secret }), "missing")
    assert.strictEqual(await reasonOf({ headers: { "x-rc-signature": "xy" }, body, secret }), "malformed")
    assert.strictEqual(await reasonOf({ headers: await signed(1), body, secret }), "expired")
  })

  it("rejects for a tolerance by which every delivery would be in time", async () => {
    const problem = verifyWebhook({ headers: await signed(1), body, secret, toleranceSeconds: NaN })
    assert.instanceOf(await problem.catch((error: unknown) => error), TypeError)
  })
})
