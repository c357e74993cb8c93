/** Messages of alerts over real HTTP and SMTP servers: their shapes, repetitions, and what is shown of failures. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as AlertChannels from "@signalbox/api/AlertChannels"
import * as Alerts from "@signalbox/api/Alerts"
import type { AlertId } from "@signalbox/api/contract/Ids"
import * as Secrets from "@signalbox/api/Secrets"
import * as Webhooks from "@signalbox/api/Webhooks"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { generate } from "selfsigned"
import { SMTPServer } from "smtp-server"
import { errorOf } from "../support/Http.ts"
import { receiver, type Receiver } from "../support/Receiver.ts"
import { layer, Service } from "../support/Service.ts"

const minute = 60_000
const hour = 60 * minute

const certificate = Effect.promise(() =>
  generate([{ name: "commonName", value: "mail.test" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: true, critical: true },
      { name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }
    ]
  })
)

interface Mailbox {
  readonly user: string | undefined
  readonly to: ReadonlyArray<string>
  readonly text: string
}

/** A real SMTP server with STARTTLS and one user. */
const mailServer = Effect.fnUntraced(function* (
  options: {
    readonly starttls?: boolean
    /** Why a receiver is refused, with the status. */
    readonly refuses?: (address: string) => readonly [message: string, status: number] | null
    /** How long it looks through a message, in milliseconds. */
    readonly thinks?: number
  } = {}
) {
  const { cert, private: key } = yield* certificate
  const mails: Array<Mailbox> = []
  const server = yield* Effect.acquireRelease(
    Effect.callback<SMTPServer>((resume) => {
      const server = new SMTPServer({
        key,
        cert,
        authOptional: true,
        logger: false,
        disabledCommands: options.starttls === false ? ["STARTTLS"] : [],
        onAuth: ({ password, username }, _session, callback) =>
          username === "robots" && password === "sesame"
            ? callback(null, { user: username })
            : callback(new Error(`no such user, or not the password ${password}`)),
        onRcptTo: ({ address }, _session, callback) => {
          const refusal = options.refuses?.(address) ?? null
          if (refusal === null) return callback()
          callback(Object.assign(new Error(refusal[0]), { responseCode: refusal[1] }))
        },
        onData: (stream, session, callback) => {
          const chunks: Array<Buffer> = []
          stream.on("data", (chunk: Buffer) => chunks.push(chunk))
          stream.on("end", () => {
            mails.push({
              user: session.user,
              to: session.envelope.rcptTo.map(({ address }) => address),
              text: Buffer.concat(chunks).toString()
            })
            setTimeout(callback, options.thinks ?? 0)
          })
        }
      })
      // Clients that give up.
      server.on("error", () => undefined)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.callback<void>((resume) => server.close(() => resume(Effect.void)))
  )
  const address = server.server.address()
  const port = address !== null && typeof address === "object" ? address.port : assert.fail("no port")
  return { port, ca: cert, mails }
})

/** An alert to one channel with these settings. */
const alertTo = Effect.fnUntraced(function* (settings: AlertChannels.AlertChannelSettings) {
  const name = crypto.randomUUID()
  const channel = yield* AlertChannels.create({ name, settings })
  const alert = yield* Alerts.create({
    name: `Disk <full> & *more* ${name}`,
    rule: { type: "disk_above", percent: 99 },
    channels: [{ id: channel.id }]
  })
  return { id: alert.id, name: alert.name, channel: channel.id }
})

const lastMessage = (alert: AlertId) =>
  Effect.map(Stream.runCollect(Alerts.messages(alert)), ([last]) => last ?? assert.fail("no message"))

/** Sends the test message, and waits for what becomes of the first attempt: the service sends by itself. */
const tested = Effect.fnUntraced(function* (alert: AlertId) {
  const { messages } = yield* Alerts.test(alert)
  assert.strictEqual(messages.length, 1)
  return yield* Effect.repeat(Effect.delay(lastMessage(alert), "20 millis"), {
    until: ({ attempts }) => attempts > 0
  })
})

const textAt = (target: Receiver, path: string) => {
  const [received] = target.at(path)
  return received === undefined ? assert.fail("nothing was received") : received.body.toString()
}

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a channel", (it) => {
  const withTarget = <A, E, R>(test: (target: Receiver) => Effect.Effect<A, E, R>) =>
    Effect.scoped(Effect.flatMap(receiver, test))

  it.effect("of Slack, Teams and ntfy gets their shapes, and nothing of a text means more than it says", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { origin } = yield* Service
        const linkTo = (alert: string) => `${origin}/console/#/alerts/${alert}`
        const url = (path: string) => Redacted.make(target.origin + path)
        const slack = yield* alertTo({ type: "slack", url: url("/services/T0/B0/hidden") })
        assert.strictEqual((yield* tested(slack.id)).state, "delivered")
        assert.deepStrictEqual(JSON.parse(textAt(target, "/services/T0/B0/hidden")), {
          text: `*${slack.name.replace("<full>", "&lt;full&gt;").replace(" & ", " &amp; ")}: test*\nThis is a test message of the alert.\n${linkTo(slack.id)}`
        })
        const teams = yield* alertTo({ type: "teams", url: url("/workflows/hidden?sig=1") })
        yield* tested(teams.id)
        const { attachments, type } = JSON.parse(textAt(target, "/workflows/hidden?sig=1"))
        assert.strictEqual(type, "message")
        assert.strictEqual(attachments[0].contentType, "application/vnd.microsoft.card.adaptive")
        assert.strictEqual(attachments[0].content.type, "AdaptiveCard")
        assert.include(attachments[0].content.body[0].text, "Disk \\<full\\> & \\*more\\*")
        assert.strictEqual(attachments[0].content.actions[0].url, linkTo(teams.id))
        const ntfy = yield* alertTo({ type: "ntfy", url: url("/push/robots"), token: Redacted.make("tk_1") })
        yield* tested(ntfy.id)
        assert.deepStrictEqual(JSON.parse(textAt(target, "/push")), {
          topic: "robots",
          title: `${ntfy.name}: test`,
          message: "This is a test message of the alert.",
          click: linkTo(ntfy.id)
        })
        assert.strictEqual(target.at("/push")[0]?.headers.authorization, "Bearer tk_1")
        const shown = JSON.stringify(yield* Stream.runCollect(AlertChannels.stream()))
        for (const secret of ["hidden", "tk_1", "sig=1"]) assert.notInclude(shown, secret)
      })
    )
  )

  it.effect("of a webhook gets a new secret, and signs with the old one too for a day", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const name = crypto.randomUUID()
        const settings = { type: "webhook", url: `${target.origin}/${name}` } as const
        const made = yield* AlertChannels.create({ name, settings })
        const alert = yield* Alerts.create({
          name,
          rule: { type: "disk_above", percent: 99 },
          channels: [{ id: made.id }]
        })
        const rotated = yield* AlertChannels.rotateSecret(made.id)
        const [old, fresh] = [made.secret ?? assert.fail("no secret"), rotated.secret ?? assert.fail("no secret")]
        assert.notStrictEqual(Redacted.value(old), Redacted.value(fresh))
        assert.strictEqual(rotated.name, name)
        // Another change keeps both.
        assert.isNull((yield* AlertChannels.update(made.id, { name, settings })).secret)
        const genuine = (index: number, secret: Redacted.Redacted) => {
          const received = target.at(`/${name}`)[index] ?? assert.fail("nothing was received")
          return Effect.isSuccess(
            Webhooks.verify({ ...received, secret, scheme: "standard", toleranceSeconds: 3 * 24 * 3600 })
          )
        }
        yield* tested(alert.id)
        assert.isTrue(yield* genuine(0, old))
        assert.isTrue(yield* genuine(0, fresh))
        yield* target.on(`/${name}`, (received, index) => received.answer(index === 1 ? 503 : 200))
        yield* tested(alert.id)
        // The next attempt is made after a day.
        yield* alertIn(25 * hour)
        assert.lengthOf(target.at(`/${name}`), 3)
        assert.isFalse(yield* genuine(2, old))
        assert.isTrue(yield* genuine(2, fresh))
      })
    )
  )

  it.effect("of another type has no secret that is rotated", () =>
    Effect.gen(function* () {
      const settings = { type: "slack", url: Redacted.make("http://127.0.0.1:9/hidden") } as const
      const { id } = yield* AlertChannels.create({ name: crypto.randomUUID(), settings })
      const refused = yield* Effect.flip(AlertChannels.rotateSecret(id))
      assert.strictEqual(refused._tag, "Conflict")
      assert.include(String(refused.message), "slack")
    })
  )

  it.effect("is tried again with the same id; firing and channel say why, without its address", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn, rows } = yield* Service
        const path = "/services/T1/B1/sesame"
        yield* target.on(path, (received, index) => received.answer(index < 2 ? 503 : 200))
        const alert = yield* alertTo({ type: "slack", url: Redacted.make(target.origin + path) })
        const failed = yield* tested(alert.id)
        assert.deepStrictEqual(
          [failed.state, failed.attempts, failed.error],
          ["pending", 1, "the channel responded with 503; 2xx is expected"]
        )
        const channel = yield* AlertChannels.get(alert.channel)
        assert.strictEqual(channel.last_error, failed.error)
        assert.isNull(channel.last_sent_at)
        yield* alertIn(minute)
        yield* alertIn(hour)
        const sent = yield* lastMessage(alert.id)
        assert.deepStrictEqual([sent.state, sent.attempts, sent.error], ["delivered", 3, null])
        assert.deepStrictEqual([...new Set(target.at(path).map(({ headers }) => headers["webhook-id"]))], [failed.id])
        assert.isNull((yield* AlertChannels.get(alert.channel)).last_error)
        assert.notInclude(JSON.stringify(yield* rows), "sesame")
      })
    )
  )

  it.effect("of e-mail sends over STARTTLS with a password, and with one of the vault", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ca, mails, port } = yield* mailServer()
        const { rows } = yield* Service
        const email = {
          type: "email",
          host: "127.0.0.1",
          port,
          ca,
          from: "robots@example.com",
          to: ["ada@example.com", "bob@example.com"],
          username: "robots"
        } as const
        const given = yield* alertTo({ ...email, password: Redacted.make("sesame") })
        const message = yield* tested(given.id)
        assert.deepStrictEqual([message.error, message.state], [null, "delivered"])
        yield* Secrets.create("smtp", { items: { password: Redacted.make("sesame") }, hosts: ["127.0.0.1"] })
        const named = yield* alertTo({ ...email, password_from: { secret: "smtp", item: "password" } })
        assert.strictEqual((yield* tested(named.id)).error, null)
        yield* Secrets.create("elsewhere", {
          items: { password: Redacted.make("sesame") },
          hosts: ["smtp.example.com"]
        })
        const other = yield* alertTo({ ...email, password_from: { secret: "elsewhere", item: "password" } })
        assert.match((yield* tested(other.id)).error ?? "", /password_from: .*elsewhere.*127\.0\.0\.1/)
        assert.strictEqual(mails.length, 2)
        const mail = mails[0] ?? assert.fail("no mail")
        assert.strictEqual(mail.user, "robots")
        assert.deepStrictEqual(mail.to, ["ada@example.com", "bob@example.com"])
        assert.include(mail.text, `Message-ID: <${message.id}@signalbox>`)
        assert.include(mail.text, "This is a test message of the alert.")
        assert.include(mail.text, "Auto-Submitted: auto-generated")
        assert.include(mail.text, `/console/#/alerts/${given.id}`)
        const { email: shown, target } = yield* AlertChannels.get(named.channel)
        assert.strictEqual(target, `127.0.0.1:${port}`)
        assert.deepStrictEqual(shown?.password_from, { secret: "smtp", item: "password" })
        assert.notInclude(JSON.stringify(yield* rows), "sesame")
      })
    )
  )

  it.effect("of e-mail says what the server refused, never what was sent, and tries again", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { alertIn } = yield* Service
        let full = true
        const { ca, mails, port } = yield* mailServer({
          refuses: () => (full ? ["mailbox of sesame is full", 451] : null)
        })
        const plain = yield* mailServer({ starttls: false })
        const email = {
          type: "email",
          host: "127.0.0.1",
          port,
          ca,
          from: "r@example.com",
          to: ["a@example.com"]
        } as const
        const busy = yield* alertTo(email)
        const refused = yield* tested(busy.id)
        assert.strictEqual(refused.error, "the mail server refused a@example.com (451) temporarily")
        assert.strictEqual(refused.state, "pending")
        full = false
        yield* alertIn(minute)
        assert.strictEqual((yield* lastMessage(busy.id)).state, "delivered")
        assert.strictEqual(mails.length, 1)
        const wrong = yield* alertTo({ ...email, username: "robots", password: Redacted.make("open sesame") })
        const denied = yield* tested(wrong.id)
        assert.match(denied.error ?? "", /^the mail server refused the user name or the password \(5\d\d\)$/)
        const clear = yield* alertTo({ ...email, port: plain.port })
        assert.match(
          (yield* tested(clear.id)).error ?? "",
          /STARTTLS; use a server that has it, or set security to none/
        )
        const { ca: _ca, ...untrusted } = email
        const strange = yield* alertTo(untrusted)
        assert.match(
          (yield* tested(strange.id)).error ?? "",
          /^the certificate of the mail server is not trusted \([A-Z_]+\): .* set ca to/
        )
        const unencrypted = yield* alertTo({ ...untrusted, port: plain.port, security: "none" })
        assert.strictEqual((yield* tested(unencrypted.id)).error, null)
        const nobody = yield* alertTo({ ...email, port: 1 })
        assert.match((yield* tested(nobody.id)).error ?? "", /^no connection to the mail server: ECONNREFUSED$/)
      })
    )
  )

  it.effect("of e-mail sends again to those alone who were refused for now, and says who was for good", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { alertIn } = yield* Service
        let full = true
        const { ca, mails, port } = yield* mailServer({
          refuses: (address) =>
            address.startsWith("no") ? ["unknown", 550] : full && address.startsWith("full") ? ["later", 452] : null
        })
        const email = { type: "email", host: "127.0.0.1", port, ca, from: "r@example.com" } as const
        const alert = yield* alertTo({ ...email, to: ["ada@example.com", "full@example.com", "no@example.com"] })
        const first = yield* tested(alert.id)
        const forGood = "the mail server refused no@example.com (550) permanently"
        assert.deepStrictEqual(
          [first.state, first.error],
          ["pending", `${forGood}, and full@example.com (452) temporarily`]
        )
        full = false
        yield* alertIn(minute)
        const second = yield* lastMessage(alert.id)
        assert.deepStrictEqual([second.state, second.error, second.attempts], ["delivered", forGood, 2])
        assert.deepStrictEqual(
          mails.map(({ to }) => to),
          [["ada@example.com"], ["full@example.com"]]
        )
        const channel = yield* AlertChannels.get(alert.channel)
        assert.strictEqual(channel.last_error, forGood)
        assert.isNotNull(channel.last_sent_at)
        // Who is refused for good is not tried again.
        const nobody = yield* alertTo({ ...email, to: ["no@example.com"] })
        assert.deepStrictEqual((yield* tested(nobody.id)).state, "failed")
      })
    )
  )

  it.effect("of e-mail waits while the server looks through a message, and sends it once", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ca, mails, port } = yield* mailServer({ thinks: 20_000 })
        const alert = yield* alertTo({
          type: "email",
          host: "127.0.0.1",
          port,
          ca,
          from: "r@example.com",
          to: ["a@example.com"]
        })
        assert.strictEqual((yield* tested(alert.id)).state, "delivered")
        assert.lengthOf(mails, 1)
      })
    )
  )

  it.effect("is sent nothing until it asks for it again, by no alert", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const path = "/busy"
        yield* target.on(path, (received, index) =>
          index === 0 ? received.answer(429, { "retry-after": "1200" }) : received.answer(200)
        )
        const one = yield* alertTo({ type: "slack", url: Redacted.make(target.origin + path) })
        const rule = { type: "disk_above", percent: 99 } as const
        const other = yield* Alerts.create({ name: crypto.randomUUID(), rule, channels: [{ id: one.channel }] })
        yield* Alerts.test(one.id)
        const asked = Effect.map(lastMessage(one.id), ({ error }) => error)
        assert.match(
          String(yield* Effect.repeat(Effect.delay(asked, "20 millis"), { until: (error) => error !== null })),
          /responded with 429/
        )
        yield* Alerts.test(other.id)
        yield* alertIn(18 * minute)
        assert.lengthOf(target.at(path), 1)
        yield* alertIn(22 * minute)
        assert.lengthOf(target.at(path), 3)
        for (const { id } of [one, other]) {
          const message = yield* lastMessage(id)
          assert.deepStrictEqual([message.state, message.attempts], ["delivered", 1])
        }
      })
    )
  )

  it.effect("of heartbeats is called each minute, and shows when it was not", () =>
    withTarget(
      Effect.fnUntraced(function* (target) {
        const { alertIn } = yield* Service
        const path = "/ping/sesame"
        yield* target.on(path, (received, index) => received.answer(index === 2 ? 500 : 200))
        const { id } = yield* AlertChannels.create({
          name: crypto.randomUUID(),
          settings: { type: "heartbeat", url: Redacted.make(target.origin + path) }
        })
        const start = 10 * hour
        yield* alertIn(start)
        yield* alertIn(start + 30_000)
        assert.strictEqual(target.at(path).length, 1)
        assert.isNotNull((yield* AlertChannels.get(id)).last_sent_at)
        yield* alertIn(start + minute)
        yield* alertIn(start + 2 * minute)
        assert.strictEqual(target.at(path).length, 3)
        assert.strictEqual((yield* AlertChannels.get(id)).last_error, "the channel responded with 500; 2xx is expected")
      })
    )
  )

  it.effect("is refused with the field that is wrong, and never with a secret", () =>
    Effect.gen(function* () {
      const { makeKey, raw } = yield* Service
      const name = crypto.randomUUID()
      const email = {
        type: "email",
        host: "smtp.example.com",
        port: 587,
        from: "r@example.com",
        to: ["a@example.com"],
        username: "robots"
      }
      const refused = Effect.fnUntraced(function* (settings: object, message: RegExp, key?: string) {
        const response = yield* raw("POST", "alert-channels", {
          json: { name, settings },
          ...(key === undefined ? {} : { key })
        })
        assert.strictEqual(response.status, key === undefined ? 400 : 403, response.text)
        assert.match(errorOf(response).message, message)
        assert.notInclude(response.text, "sesame")
      })
      yield* refused({ type: "slack", url: "sesame" }, /settings.*Expected an absolute http or https address/)
      yield* refused({ type: "ntfy", url: "https://ntfy.sh/" }, /settings\.url: Expected the address of a topic/)
      yield* refused(
        { ...email, password: "sesame", to: ["ada@example.com\nBcc: eve@example.com"] },
        /settings.*to.*e-mail address/
      )
      yield* refused({ ...email, password: "sesame", host: "smtp example" }, /settings.*host/)
      yield* refused(email, /settings\.password: needed for a user name/)
      yield* refused(
        { ...email, password: "sesame", security: "none" },
        /settings\.security: a password is not sent without TLS/
      )
      yield* refused({ ...email, password: "sesame", ca: "sesame" }, /^settings\.ca: Expected .* PEM/)
      const cut = (yield* certificate).cert.replaceAll(/^(.{20}).*$/gm, "$1")
      yield* refused({ ...email, password: "sesame", ca: cut }, /^settings\.ca: /)
      yield* refused({ type: "pigeon" }, /^settings\.type: Expected "webhook" \| "slack" \| .*"email"/)
      yield* refused(
        { ...email, password: "sesame", password_from: { secret: "smtp", item: "password" } },
        /settings\.password_from: Expected one of/
      )
      const key = yield* makeKey(["Alerts.write_alerts"])
      yield* refused(
        { ...email, password_from: { secret: "smtp", item: "password" } },
        /lacks the permission Vault\.read_secret_values/,
        key
      )
      const channels = yield* Stream.runCollect(AlertChannels.stream())
      assert.isFalse(channels.some((channel) => channel.name === name))
    })
  )

  it.effect("keeps its password for the same server alone", () =>
    Effect.gen(function* () {
      const { raw } = yield* Service
      const settings = {
        type: "email",
        host: "127.0.0.1",
        port: 2525,
        from: "r@example.com",
        to: ["a@example.com"],
        username: "robots"
      } as const
      const name = crypto.randomUUID()
      const { id } = yield* AlertChannels.create({ name, settings: { ...settings, password: Redacted.make("sesame") } })
      yield* AlertChannels.update(id, { name, settings: { ...settings, to: ["b@example.com"] } })
      const moved = yield* raw("POST", `alert-channels/${id}`, {
        json: { name, settings: { ...settings, host: "127.0.0.2" } }
      })
      assert.strictEqual(moved.status, 400)
      assert.match(errorOf(moved).message, /settings\.password: needed/)
      assert.strictEqual((yield* AlertChannels.get(id)).target, "127.0.0.1:2525")
    })
  )
})
