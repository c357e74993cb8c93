/** Sends one e-mail by SMTP. The library is loaded with the first one. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { isIP, type LookupFunction } from "node:net"
import { NoResponse } from "./DeliverySender.ts"
import { refusalOf } from "./TargetGuard.ts"

/** The total time limit of an attempt. */
const attemptTime = "30 seconds"
const stepTime = 15_000

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

interface MailError extends Error {
  readonly code?: string | undefined
  /** That of the system or of TLS, where `code` is one of the library. */
  readonly originalCode?: string | undefined
  readonly responseCode?: number | undefined
  readonly command?: string | undefined
}

/** What a server refuses at each command. */
const refused: Readonly<Record<string, string>> = {
  CONN: "the connection",
  EHLO: "the greeting",
  HELO: "the greeting",
  STARTTLS: "STARTTLS; use a server that has it, or set security to none",
  "MAIL FROM": "the sender",
  "RCPT TO": "the recipients",
  DATA: "the message"
}

const certificateCodes = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_)/

/** Why there was no answer, and what to change. */
const unconnected = (code: string): string => {
  if (code === "ETIMEDOUT") return `the mail server did not respond within ${stepTime / 1000} seconds`
  if (certificateCodes.test(code)) {
    return `the certificate of the mail server is not trusted (${code}): use the name it is for as host, or set ca to what it is checked by`
  }
  if (code.startsWith("ERR_SSL_")) return `no secure connection to the mail server (${code}): check port and security`
  return `no connection to the mail server: ${code}`
}

/** Never what the server wrote: it may repeat what it was sent. */
const said = (error: MailError): string => {
  const { code = "it does not speak SMTP", command = "", originalCode = code, responseCode } = error
  const status = responseCode === undefined ? "" : ` (${responseCode})`
  if (code === "EAUTH" || command.startsWith("AUTH")) {
    return `the mail server refused the user name or the password${status}`
  }
  if (code === "ETLS") return `no secure connection to the mail server${status}: ${refused["STARTTLS"]}`
  if (responseCode !== undefined) return `the mail server refused ${refused[command] ?? "the message"}${status}`
  return unconnected(originalCode)
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

/** Sends an e-mail to a server whose address was checked. */
export const send = (mail: Mail): Effect.Effect<void, NoResponse> =>
  Effect.gen(function* () {
    const address = yield* addressOf(mail)
    const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
    const { auth, ca, from, host, id, port, security, subject, text, to } = mail
    const transport = createTransport({
      host: address,
      port,
      secure: security === "tls",
      requireTLS: security === "starttls",
      ignoreTLS: security === "none",
      ...(auth === null ? {} : { auth: { user: auth.username, pass: auth.password } }),
      // An IP address is no name: the certificate is then checked by the address.
      tls: { ...(isIP(host) === 0 ? { servername: host } : {}), ...(ca === null ? {} : { ca }) },
      connectionTimeout: stepTime,
      greetingTimeout: stepTime,
      socketTimeout: stepTime,
      disableFileAccess: true,
      disableUrlAccess: true
    })
    yield* Effect.callback<void, NoResponse>((resume) => {
      transport.sendMail(
        {
          from,
          to: [...to],
          subject,
          text,
          messageId: `<${id}@signalbox>`,
          headers: { "Auto-Submitted": "auto-generated" }
        },
        (error: MailError | null) =>
          resume(error === null ? Effect.void : Effect.fail(new NoResponse({ message: said(error) })))
      )
      return Effect.sync(() => transport.close())
    })
  }).pipe(
    Effect.timeoutOrElse({
      duration: attemptTime,
      orElse: () => Effect.fail(new NoResponse({ message: `the mail server did not take it within ${attemptTime}` }))
    })
  )

/** Sends e-mails; replaced where nothing may leave the process. */
export const MailSender = Context.Reference<(mail: Mail) => Effect.Effect<void, NoResponse>>(
  "@signalbox/control-room/delivery/MailSender",
  { defaultValue: () => send }
)
