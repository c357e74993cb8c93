import { assert, describe, it } from "@effect/vitest"
import { refusedIp } from "@signalbox/transport/RefusedTargets"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as HttpServer from "effect/http/HttpServer"
import * as NetAddress from "effect/net/NetAddress"
import * as TestClock from "effect/testing/TestClock"
import type { LookupFunction } from "node:net"
import { send } from "../src/internal/delivery/DeliverySender.ts"
import { TargetGuard } from "../src/internal/delivery/TargetGuard.ts"
import { receiver } from "./support/Receiver.ts"

const guardOf = (listensAt: string, allowPrivate?: boolean) =>
  Effect.provide(
    TargetGuard,
    Layer.provide(
      TargetGuard.layer(allowPrivate),
      Layer.succeed(
        HttpServer.HttpServer,
        HttpServer.HttpServer.of({
          address: NetAddress.inetAddressUnsafe(NetAddress.ipFromStringUnsafe(listensAt), 4700),
          serve: () => Effect.void
        })
      )
    )
  )

/** Every spelling here resolves to this machine or to a network that only it can reach. */
const refusedUrls = [
  "http://127.0.0.1/",
  "http://127.0.0.1./",
  "http://127.1/",
  "http://127.255.255.254/",
  "http://2130706433/",
  "http://0x7f000001/",
  "http://0x7f.1/",
  "http://017700000001/",
  "http://0177.0.0.1/",
  "http://0177.0x0.0.01/",
  "http://%31%32%37.0.0.1/",
  "http://１２７.0.0.1/",
  "http://127。0。0。1/",
  "http://user:pass@127.0.0.1/",
  "http://public.example@127.0.0.1/",
  "HTTP://LOCALHOST/",
  "http://localhost./",
  "http://localhost../",
  "http://a.b.localhost/",
  "https://localhost:8443/hook?x=1",
  "http://0.0.0.0/",
  "http://0/",
  "http://0.1.2.3/",
  "http://10.0.0.1/",
  "http://10.255.255.255/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://3232235777/",
  "http://100.64.0.1/",
  "http://100.100.100.200/",
  "http://169.254.169.254/latest/meta-data/",
  "http://0xa9fea9fe/",
  "http://169.254.43518/",
  "http://168.63.129.16/",
  "http://192.0.0.192/",
  "http://192.0.2.1/",
  "http://198.18.0.1/",
  "http://198.51.100.1/",
  "http://203.0.113.1/",
  "http://224.0.0.1/",
  "http://239.255.255.250/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://[::1]/",
  "http://[0:0:0:0:0:0:0:1]/",
  "http://[::]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:10.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://[64:ff9b::10.0.0.1]/",
  "http://[64:ff9b:1::10.0.0.1]/",
  "http://[2002:7f00:1::]/",
  "http://[2002:a00:1::1]/",
  "http://[2002:a00:1:5db8:d822::1]/",
  "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
  "http://[fe80::1]/",
  "http://[febf::1]/",
  "http://[fec0::1]/",
  "http://[fc00::1]/",
  "http://[fd00:ec2::254]/",
  "http://[ff02::1]/",
  "http://[100::1]/",
  "http://[2001:db8::1]/",
  "http://[4000::1]/"
]

const notAddresses = ["http://", "http://[fe80::1%25eth0]/", "http://256.256.256.256/", "http://exa mple/", "nonsense"]
const otherSchemes = ["ftp://public.example/", "file:///etc/passwd", "unix:/run/x.sock"]

const allowedUrls = [
  "http://93.184.216.34/",
  "http://1.1.1.1/",
  "http://1572395042/",
  "http://11.0.0.1/",
  "http://172.15.255.255/",
  "http://172.32.0.1/",
  "http://100.63.255.255/",
  "http://100.128.0.1/",
  "http://192.167.255.255/",
  "http://169.253.255.255/",
  "http://223.255.255.255/",
  "http://[2606:4700:4700::1111]/",
  "http://[2a00:1450::1]/",
  "http://[::ffff:93.184.216.34]/",
  "http://[64:ff9b::93.184.216.34]/",
  "http://[2002:5db8:d822::1]/",
  "https://public.example/hook",
  "https://public.example./hook",
  "http://localhost.public.example/"
]

describe("the guard of targets", () => {
  it.effect("knows every spelling of an address that only this machine reaches", () =>
    Effect.gen(function* () {
      const guard = yield* guardOf("0.0.0.0")
      for (const url of refusedUrls) assert.match(guard.refuses(url) ?? "", /^is /, url)
      for (const url of notAddresses) assert.strictEqual(guard.refuses(url), "is not a valid address", url)
      for (const url of otherSchemes) assert.match(guard.refuses(url) ?? "", /http/, url)
      for (const url of allowedUrls) assert.isNull(guard.refuses(url), url)
    })
  )

  it("checks resolved addresses in every form", () => {
    for (const ip of ["127.0.0.1", "::1", "fe80::1%lo", "2606:4700::1%eth0", "::ffff:192.168.0.1", "not an address"]) {
      assert.isNotNull(refusedIp(ip), ip)
    }
    assert.isNull(refusedIp("93.184.216.34"))
    assert.isNull(refusedIp("2606:4700:4700::1111"))
  })

  it.effect("allows private targets by default only to a service that listens on loopback", () =>
    Effect.gen(function* () {
      const url = "http://127.0.0.1:9/"
      assert.isNull((yield* guardOf("127.0.0.1")).refuses(url))
      assert.isNull((yield* guardOf("::1")).refuses(url))
      assert.isNotNull((yield* guardOf("0.0.0.0")).refuses(url))
      assert.isNotNull((yield* guardOf("192.168.0.5")).refuses(url))
      assert.isNull((yield* guardOf("0.0.0.0", true)).refuses(url))
      assert.isNotNull((yield* guardOf("127.0.0.1", false)).refuses(url))
      assert.isNotNull((yield* guardOf("0.0.0.0", true)).refuses("file:///etc/passwd"))
    })
  )
})

const attempt = (endpoint: string, lookup: LookupFunction) =>
  send({ endpoint, headers: { "x-test": "1" }, body: Buffer.from("{}"), lookup })

describe("an attempt", () => {
  it.effect("does not connect when a name resolves to this machine, whatever its text says", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const refusing = yield* guardOf("0.0.0.0")
      const error = yield* Effect.flip(attempt(`http://localhost:${target.port}/refused`, refusing.lookup))
      assert.strictEqual(
        error.message,
        "the host resolves to a loopback address, to which this service sends no requests"
      )
      assert.strictEqual(target.at("/refused").length, 0)
      const allowing = yield* guardOf("127.0.0.1")
      assert.strictEqual((yield* attempt(`http://localhost:${target.port}/allowed`, allowing.lookup)).status, 200)
      assert.strictEqual(target.at("/allowed").length, 1)
    })
  )

  it.effect("connects to the address that was checked, and resolves no second time", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      let resolved = 0
      const rebinding: LookupFunction = (_hostname, options, callback) => {
        const address = ++resolved === 1 ? "127.0.0.1" : "192.0.2.1"
        if (options.all === true) callback(null, [{ address, family: 4 }])
        else callback(null, address, 4)
      }
      assert.strictEqual((yield* attempt(`http://public.example.:${target.port}/x`, rebinding)).status, 200)
      assert.strictEqual(resolved, 1)
      assert.strictEqual(target.at("/x")[0]?.headers["x-test"], "1")
    })
  )

  it.effect("ends after 15 seconds when nothing arrives", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const { lookup } = yield* guardOf("127.0.0.1")
      yield* target.on("/hangs", () => {})
      const waiting = yield* Effect.forkChild(Effect.flip(attempt(`${target.origin}/hangs`, lookup)))
      yield* target.take("/hangs", 1)
      yield* TestClock.adjust("14 seconds")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(waiting)).message, "no response within 15 seconds")
    })
  )

  it.effect("is decided by the status, and waits for no body that never ends", () =>
    Effect.gen(function* () {
      const target = yield* receiver
      const { lookup } = yield* guardOf("127.0.0.1")
      yield* target.on("/never-ends", (received) => received.answerForever(202))
      assert.strictEqual((yield* attempt(`${target.origin}/never-ends`, lookup)).status, 202)
      // The connection is closed.
      const closed = Effect.sync(() => target.open() === 0)
      yield* TestClock.withLive(Effect.repeat(Effect.delay(closed, "20 millis"), { until: (is) => is }))
    })
  )

  it.effect("says what went wrong with a connection, and nothing of the address", () =>
    Effect.gen(function* () {
      const { lookup } = yield* guardOf("127.0.0.1")
      const gone = yield* Effect.scoped(Effect.map(receiver, ({ port }) => port))
      const refused = yield* Effect.flip(attempt(`http://user:password@127.0.0.1:${gone}/?key=value`, lookup))
      assert.strictEqual(refused.message, "no connection: ECONNREFUSED")
      const unresolved = yield* Effect.flip(attempt("http://name.invalid/", lookup))
      assert.match(unresolved.message, /^no connection: E[A-Z_]+$/)
    })
  )
})
