/** Fields of payloads that are secret: a caller who may not see them gets null in their place. Extensions. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Text } from "../../contract/Common.ts"

/** A JSON pointer (RFC 6901) into a payload; the empty one is the whole payload. */
export const PayloadPointer = Text.check(
  Schema.isMaxLength(1024),
  Schema.isPattern(/^(?:\/(?:[^~/]|~[01])*)*$/, {
    message: "Expected a JSON pointer into the payload, such as /customer/ssn"
  })
)

/** The most pointers of one process, and of one request. */
export const mostPointers = 100

const pointers = Schema.Array(PayloadPointer)

/** The secret fields of a process besides those that its `input_schema` marks; `*` is any key or index. */
export const Sensitive = pointers.check(Schema.isMaxLength(mostPointers))

/** Those to return. */
export const Revealed = pointers.check(Schema.isBetweenLength(1, mostPointers))

/** The pointers to what is masked: null is in its place. */
export const masked = Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
