/** Sends one e-mail by SMTP. The library is loaded with the first one. */
import { defined } from "@signalbox/transport/Defined"
import { refusalOf } from "@signalbox/transport/RefusedTargets"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { isIP, type LookupFunction, Socket } from "node:net"
import { NoResponse } from "./DeliverySender.ts"

/**
 * Connecting, and each response of the server, in milliseconds. A server may look through a message for minutes before it
 * takes it (RFC 5321, 4.5.3.2); who does not wait sends it again and again.
 */
const connectTime = 30_000
const responseTime = 5 * 60_000
/** The total time limit of an attempt, so that a server that responds a byte at a time keeps no connection. */
const attemptTime = Duration.minutes(8)
/** For the server to end the connection after it, in milliseconds. */
const quitTime = 5000

export interface Mail {
  readonly host: string
  readonly port: number
  /** `starttls`: refused by a server without it. `none`: without a password. */
  readonly security: "starttls" | "tls" | "none"
  readonly auth: { readonly username: string; readonly password: string } | null
  /** The certificate, as PEM, that the server is checked by; null: those of the system. */
  readonly ca: string | null
  readonly from: string
  readonly to: ReadonlyArray<string>
  /** The same in every attempt, so that a receiver can tell a repetition. */
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly lookup: LookupFunction
}

/** A receiver that the server did not take. */
export interface RefusedReceiver {
  readonly address: string
  /** Of the server's reply, such as 451 or 550. */
  readonly status: number
  /** Whether it will not take this one later either. */
  readonly forGood: boolean
}

interface MailError extends Error {
  readonly code?: string | undefined
  /** That of the system or of TLS, where `code` is one of the library. */
  readonly originalCode?: string | undefined
  readonly responseCode?: number | undefined
  readonly command?: string | undefined
  readonly timeoutType?: string | undefined
  readonly rejectedErrors?: ReadonlyArray<Rejection> | undefined
}

/** The reply of a server to one receiver. */
interface Rejection {
  readonly recipient?: string | undefined
  readonly responseCode?: number | undefined
  readonly permanent?: boolean | undefined
}

const refusedReceivers = (rejections: ReadonlyArray<Rejection> = []): ReadonlyArray<RefusedReceiver> =>
  rejections.flatMap(({ permanent = false, recipient, responseCode }) =>
    recipient === undefined || responseCode === undefined
      ? []
      : [{ address: recipient, status: responseCode, forGood: permanent }]
  )

/** What a server refuses at each command. */
const refused: Readonly<Record<string, string>> = {
  CONN: "the connection",
  EHLO: "the greeting",
  HELO: "the greeting",
  STARTTLS: "STARTTLS; use a server that has it, or set security to none",
  "MAIL FROM": "the sender",
  DATA: "the message"
}

const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/

/** Why there was no answer, and what to change. */
const unconnected = (code: string, timeout: string | undefined): string => {
  if (timeout === "SOCKET_TIMEOUT") return `the mail server did not respond within ${responseTime / 60_000} minutes`
  if (code === "ETIMEDOUT") return `the mail server did not respond within ${connectTime / 1000} seconds`
  if (certificateCodes.test(code)) {
    return `the certificate of the mail server is not trusted (${code}): set host to a name in the certificate, or set ca to the certificate of its authority`
  }
  if (code.startsWith("ERR_SSL_")) return `no secure connection to the mail server (${code}): check port and security`
  return `no connection to the mail server: ${code}`
}

/** Never what the server wrote: it may repeat what it was sent. */
const said = (error: MailError): string => {
  const {
    code = "the server does not speak SMTP",
    command = "",
    originalCode = code,
    responseCode,
    timeoutType
  } = error
  const status = responseCode === undefined ? "" : ` (${responseCode})`
  if (code === "EAUTH" || command.startsWith("AUTH")) {
    return `the mail server refused the user name or the password${status}`
  }
  if (code === "ETLS") return `no secure connection to the mail server${status}: ${refused["STARTTLS"]}`
  if (responseCode !== undefined) return `the mail server refused ${refused[command] ?? "the message"}${status}`
  return unconnected(originalCode, timeoutType)
}

const addressOf = ({ host, lookup }: Mail) =>
  Effect.callback<string, NoResponse>((resume) => {
    lookup(host, { all: false }, (error, address) =>
      resume(
        error === null && typeof address === "string"
          ? Effect.succeed(address)
          : Effect.fail(
              new NoResponse({ message: refusalOf(error) ?? "the name of the mail server could not be resolved" })
            )
      )
    )
  })

/** Sends an e-mail to a server whose address was checked. Returns the receivers that the server refused. */
export const send = (mail: Mail): Effect.Effect<ReadonlyArray<RefusedReceiver>, NoResponse> =>
  Effect.gen(function* () {
    const address = yield* addressOf(mail)
    const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
    const { auth, ca, from, host, id, port, security, subject, text, to } = mail
    const socket = new Socket()
    const transport = createTransport({
      socket,
      host: address,
      port,
      secure: security === "tls",
      requireTLS: security === "starttls",
      ignoreTLS: security === "none",
      ...defined({ auth: auth === null ? undefined : { user: auth.username, pass: auth.password } }),
      // An IP address is no name: the certificate is then checked by the address.
      tls: defined({ servername: isIP(host) === 0 ? host : undefined, ca: ca ?? undefined }),
      connectionTimeout: connectTime,
      greetingTimeout: connectTime,
      socketTimeout: responseTime,
      disableFileAccess: true,
      disableUrlAccess: true
    })
    return yield* Effect.callback<ReadonlyArray<RefusedReceiver>, NoResponse>((resume) => {
      transport.sendMail(
        {
          from,
          to: [...to],
          subject,
          text,
          messageId: `<${id}@signalbox>`,
          headers: { "Auto-Submitted": "auto-generated" }
        },
        (error: MailError | null, sent) => {
          const refused = refusedReceivers((error ?? sent).rejectedErrors)
          // Where it refused not every receiver, the server refused something else.
          const failed = error !== null && refused.length < to.length
          setTimeout(() => socket.destroy(), quitTime).unref()
          resume(failed ? Effect.fail(new NoResponse({ message: said(error) })) : Effect.succeed(refused))
        }
      )
      return Effect.sync(() => socket.destroy())
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: attemptTime,
      orElse: () =>
        Effect.fail(
          new NoResponse({
            message: `the mail server did not accept the message within ${Duration.toMinutes(attemptTime)} minutes`
          })
        )
    })
  )

/** Sends e-mails; replaced where nothing may leave the process. */
export const MailSender = Context.Reference<(mail: Mail) => Effect.Effect<ReadonlyArray<RefusedReceiver>, NoResponse>>(
  "@signalbox/control-room/delivery/MailSender",
  { defaultValue: () => send }
)
