/**
 * Sign-in on another device: a code that a person types there, while this program asks whether they are done.
 */
import type { Link } from "@signalbox/transport/Attempts"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { TokenError } from "../../AccessTokens.ts"
import { Expired, Malformed, OAuthError, own } from "../../OAuthError.ts"
import type { Tokens } from "../../Tokens.ts"
import { type Form, postForm, postForTokens } from "./TokenEndpoint.ts"

export interface DeviceLogin {
  /** What the user types, and where. */
  readonly userCode: string
  readonly verificationUri: string
  /** Both in a sentence for the user. */
  readonly message: string
  /** Until when it can be completed, in milliseconds since the epoch. */
  readonly expiresAt: number
  /** Waits until the user has signed in, and stores the tokens. */
  readonly complete: Effect.Effect<Tokens, TokenError>
}

const Answer = Schema.Struct({
  device_code: Schema.NonEmptyString,
  user_code: Schema.String,
  verification_uri: Schema.String,
  expires_in: Schema.Finite,
  interval: Schema.optionalKey(Schema.Finite),
  message: Schema.optionalKey(Schema.String)
})

const decode = Schema.decodeUnknownOption(Answer, { reportInput: false })

/** What each `slow_down` adds. */
const slowDownMillis = 5_000

export const make = Effect.fnUntraced(function* (options: {
  readonly link: Link
  readonly authority: string
  readonly client: Form
  readonly scope: string
  readonly keep: (tokens: Tokens) => Effect.Effect<Tokens, TokenError>
}): Effect.fn.Return<DeviceLogin, OAuthError> {
  const { authority, client, keep, link, scope } = options
  const { client_id } = client
  const answer = decode(yield* postForm(link, `${authority}/devicecode`, { client_id, scope }, true))
  if (Option.isNone(answer)) {
    return yield* new OAuthError({ reason: new Malformed(own("the identity provider's answer has no device code")) })
  }
  const { device_code, expires_in, interval, message, user_code, verification_uri } = answer.value
  const expiresAt = (yield* Clock.currentTimeMillis) + expires_in * 1000
  const form = {
    ...client,
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: Redacted.make(device_code)
  }

  const poll = Effect.gen(function* (): Effect.fn.Return<Tokens, OAuthError> {
    for (let pause = Math.max(1, interval ?? 5) * 1000; ;) {
      yield* Effect.sleep(pause)
      if ((yield* Clock.currentTimeMillis) > expiresAt) {
        return yield* new OAuthError({
          reason: new Expired(own("the code was not used in time: start again"))
        })
      }
      const asked = yield* Effect.result(
        postForTokens(link, `${authority}/token`, form, { repeatable: true, previous: null })
      )
      if (Result.isSuccess(asked)) return asked.success
      const { error } = asked.failure.reason
      if (error === "slow_down") pause += slowDownMillis
      else if (error !== "authorization_pending") return yield* asked.failure
    }
  })

  return {
    userCode: user_code,
    verificationUri: verification_uri,
    message: message ?? `Open ${verification_uri} and enter the code ${user_code}`,
    expiresAt,
    complete: Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(poll), keep)).pipe(
      Effect.withSpan("OAuth.deviceLogin.complete")
    )
  }
})
