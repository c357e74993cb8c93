/**
 * The sandbox's own endpoints below `/sandbox`, for tests in other languages and processes.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Faults from "../../Faults.ts"
import { answerDevice } from "./LoginServer.ts"
import { Tokens } from "../login/Tokens.ts"
import { Mail } from "../../Seed.ts"
import { lifecycleEvents, Notifier } from "./Notifier.ts"
import { Traffic } from "./Traffic.ts"
import * as Mails from "../world/Mails.ts"
import { World } from "../world/World.ts"

const json = (body: unknown, status = 200) =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json" })

const done = HttpServerResponse.empty({ status: 204 })

/** The body by its schema, or 400 that names the field. */
const withBody = <A, I, R>(
  schema: Schema.Codec<A, I>,
  run: (body: A) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const text = yield* Effect.orElseSucceed(request.text, () => "")
    return yield* Schema.decodeEffect(Schema.fromJsonString(schema))(text).pipe(
      Effect.flatMap(run),
      Effect.catch((error) => Effect.succeed(json({ error: error.message }, 400)))
    )
  })

/** Rules with an expression that cannot be read are refused before they are in force. */
export const CheckedFaults = Faults.Faults.check(
  Schema.makeFilter(({ rules }) => {
    const at = rules.findIndex(({ path }) => path !== undefined && !isExpression(path))
    return at === -1 ? undefined : { path: ["rules", at, "path"], issue: "Expected a regular expression" }
  })
)

/** From now on these rules are in force; what was written before is seen by all reads. */
export const setFaults = Effect.fnUntraced(function* (faults: Faults.Faults) {
  const world = yield* World
  const traffic = yield* Traffic
  yield* world.settle(faults.lag !== undefined)
  yield* traffic.set(faults)
})

const isExpression = (source: string): boolean => Result.isSuccess(Result.try(() => new RegExp(source)))

const Delivery = Schema.Struct({ user: Schema.String, mail: Mail })

/** Puts a mail into a mailbox, and returns its `internetMessageId`; fails with a message. */
export const deliver = Effect.fnUntraced(function* (name: string, mail: Mail) {
  const world = yield* World
  const user = world.userBy(name) ?? Mails.personAt(world.users, name)
  const mailbox = user === undefined ? undefined : world.mailboxes.get(user.id)
  if (mailbox === undefined) return yield* Effect.fail(`no user is '${name}'`)
  const now = yield* Clock.currentTimeMillis
  const message = yield* Effect.mapError(Mails.deliver(world, mailbox, mail, now), (error) => error.message)
  return String(message.properties["internetMessageId"])
})

const Device = Schema.Struct({ userCode: Schema.String, user: Schema.NullOr(Schema.String) })

const Lifecycle = Schema.Struct({
  event: Schema.Literals(lifecycleEvents),
  subscription: Schema.optionalKey(Schema.String)
})

export const routes = Layer.mergeAll(
  HttpRouter.add(
    "GET",
    "/sandbox/faults",
    Effect.flatMap(Traffic, (traffic) => Effect.map(traffic.current, json))
  ),
  HttpRouter.add(
    "PUT",
    "/sandbox/faults",
    withBody(CheckedFaults, (faults) => Effect.as(setFaults(faults), done))
  ),
  HttpRouter.add("DELETE", "/sandbox/faults", Effect.as(setFaults(Faults.none), done)),
  HttpRouter.add(
    "GET",
    "/sandbox/requests",
    Effect.flatMap(Traffic, (traffic) => Effect.map(traffic.seen, json))
  ),
  HttpRouter.add(
    "DELETE",
    "/sandbox/requests",
    Effect.flatMap(Traffic, (traffic) => Effect.as(traffic.forget, done))
  ),
  HttpRouter.add(
    "POST",
    "/sandbox/expire-access-tokens",
    Effect.flatMap(Tokens, (tokens) => Effect.as(tokens.expireAccess, done))
  ),
  HttpRouter.add(
    "POST",
    "/sandbox/expire-refresh-tokens",
    Effect.flatMap(Tokens, (tokens) => Effect.as(tokens.expireRefresh, done))
  ),
  HttpRouter.add(
    "POST",
    "/sandbox/mails",
    withBody(Delivery, ({ mail, user }) =>
      deliver(user, mail).pipe(
        Effect.map((internetMessageId) => json({ internetMessageId }, 201)),
        Effect.catch((error) => Effect.succeed(json({ error }, 404)))
      )
    )
  ),
  HttpRouter.add(
    "POST",
    "/sandbox/lifecycle",
    withBody(Lifecycle, ({ event, subscription }) =>
      Effect.flatMap(Notifier, (notifier) =>
        Effect.map(notifier.lifecycle(event, subscription), (known) =>
          known ? done : json({ error: "there is no such subscription" }, 404)
        )
      )
    )
  ),
  HttpRouter.add(
    "POST",
    "/sandbox/devices",
    withBody(Device, ({ user, userCode }) =>
      Effect.map(answerDevice(userCode, user), (known) =>
        known ? done : json({ error: "userCode or user is not known" }, 404)
      )
    )
  )
)
