/** A provider that ends, comes back with other keys, or cannot be reached. */
import { assert, layer as withLayer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { vi } from "vitest"
import { member, newLogin, signIn } from "../support/People.ts"
import * as Provider from "../support/Provider.ts"
import { alertsByHand, layerIn, Service, temporaryFolder } from "../support/Service.ts"

/** One for each test, since the room remembers what a provider says of itself. */
class Two extends Context.Service<Two, { readonly away: Provider.Provider; readonly rotated: Provider.Provider }>()(
  "test/Two"
) {}

const layer = Layer.unwrap(
  Effect.gen(function* () {
    const roles = [{ group: "staff", workspace: "test", role: "viewer" }]
    const two = { away: yield* Provider.make("away", { roles }), rotated: yield* Provider.make("rotated", { roles }) }
    const providers = [two.away.settings, two.rotated.settings]
    const room = layerIn(yield* temporaryFolder, { rateLimit: null, providers })
    return Layer.merge(Layer.succeed(Two, two), room)
  })
).pipe(Layer.provide(alertsByHand))

/** As if so much time had passed, also for the library, which has no other clock. */
const later = <A, E, R>(seconds: number, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const { now } = Date
      return vi.spyOn(Date, "now").mockImplementation(() => now() + seconds * 1000)
    }),
    () => effect,
    (clock) => Effect.sync(() => clock.mockRestore())
  )

const somebody = () => `${newLogin("ada")}~staff`

withLayer(layer, { excludeTestServices: true, timeout: "4 minutes" })("a provider", (it) => {
  it.effect("that is away stops nobody who is signed in, and nobody with a password", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const { away: own } = yield* Two
      const refused = yield* Provider.follow("/console/sign-in/provider/away")
      assert.strictEqual(refused.status, 503)
      assert.include(refused.text, "Provider away does not respond")
      const process = yield* own.start(origin)
      const first = yield* Provider.enter(own, somebody())
      assert.strictEqual(first.status, 200, first.text)
      const begun = yield* Provider.begin(own)
      const back = yield* Provider.signInAt(begun.address, somebody())
      yield* process.end
      const page = yield* Provider.comeBack(back, begun.cookie)
      assert.strictEqual(page.status, 503, page.text)
      assert.include(page.text, `<a href="/console/sign-in/provider/away">Sign in with Provider away again</a>`)
      assert.strictEqual((yield* Provider.sessionOf(first.cookie)).status, 200)
      const { user } = yield* member({ login: newLogin("local"), role: "viewer" })
      assert.strictEqual((yield* signIn(user.login)).status, 200)
      yield* own.start(origin)
      assert.strictEqual((yield* Provider.enter(own, somebody())).status, 502)
    }).pipe(Effect.scoped)
  )

  it.effect("with other keys is asked for them, at most once a minute", () =>
    Effect.gen(function* () {
      const { origin } = yield* Service
      const { rotated: own } = yield* Two
      const process = yield* own.start(origin)
      assert.strictEqual((yield* later(120, Provider.enter(own, somebody()))).status, 200)
      yield* process.end
      yield* own.start(origin)
      assert.strictEqual((yield* later(150, Provider.enter(own, somebody()))).status, 502)
      assert.strictEqual(yield* own.asked("/jwks"), 0)
      assert.strictEqual((yield* later(200, Provider.enter(own, somebody()))).status, 200)
      assert.strictEqual(yield* own.asked("/jwks"), 1)
      yield* own.behave("key")
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.strictEqual((yield* later(240, Provider.enter(own, somebody()))).status, 502)
      }
      assert.strictEqual(yield* own.asked("/jwks"), 1)
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.strictEqual((yield* later(280, Provider.enter(own, somebody()))).status, 502)
      }
      assert.strictEqual(yield* own.asked("/jwks"), 2)
    }).pipe(Effect.scoped)
  )
})
