/** Why a control room cannot listen on its address. */
import { TaggedError } from "@signalbox/transport/Printed"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { ServeError } from "effect/http/HttpServerError"

interface Fields {
  /** The code of the system, such as `EADDRINUSE`. */
  readonly code: string
  readonly host: string
  readonly port: number
}

const unresolved = ({ host }: Fields, option: string) =>
  `the host name ${host} does not resolve: give an address of this machine with ${option}host, such as 127.0.0.1`

/** What failed and the remedy, by the code of the system; `option` is the prefix of option names. */
const problems: Readonly<Record<string, (fields: Fields, option: string) => string>> = {
  EADDRINUSE: ({ host, port }, option) =>
    `port ${port} on ${host} is in use: stop the program that listens there, or choose another with ${option}port (0 picks a free one)`,
  EADDRNOTAVAIL: ({ host }, option) =>
    `${host} is not an address of this machine: give one with ${option}host, such as 127.0.0.1, or 0.0.0.0 for all`,
  EACCES: ({ host, port }, option) =>
    `no permission to listen on port ${port} of ${host}: choose one from 1024 up with ${option}port, or give this process the permission`,
  ENOTFOUND: unresolved,
  EAI_AGAIN: unresolved
}

const problemOf = (fields: Fields, option: string): string =>
  problems[fields.code]?.(fields, option) ??
  `cannot listen on port ${fields.port} of ${fields.host} (${fields.code}): check ${option}host and ${option}port`

/** The service cannot listen on the address or the port; the message says why, and the remedy. */
export class ListenError extends TaggedError<ListenError>()("ListenError", {
  message: Schema.String,
  /** The code of the system, such as `EADDRINUSE`. */
  code: Schema.String,
  host: Schema.String,
  port: Schema.Int
}) {
  static of(error: ServeError, where: { readonly host: string; readonly port: number }): ListenError {
    const { cause } = error
    const code = Predicate.hasProperty(cause, "code") ? String(cause.code) : String(cause)
    const fields = { ...where, code }
    return new ListenError({ ...fields, message: problemOf(fields, "") })
  }

  /** The message with the names of the flags of commands. */
  get ofCommand(): string {
    return problemOf(this, "--")
  }
}
