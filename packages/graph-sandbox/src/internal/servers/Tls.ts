/**
 * A certificate for this machine, made when it is needed, and valid for a month.
 */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { generate } from "selfsigned"

export interface Certificate {
  readonly key: string
  /** PEM; also the authority that a client has to trust. */
  readonly cert: string
}

const monthMillis = 30 * 24 * 3_600_000

export const make = Effect.fnUntraced(function* (now: number) {
  const { cert, private: key } = yield* Effect.promise(() =>
    // A client finds an authority by its name, so each has its own: one client can trust several sandboxes.
    generate([{ name: "commonName", value: `Signalbox graph sandbox ${randomUUID()}` }], {
      keyType: "ec",
      algorithm: "sha256",
      notBeforeDate: new Date(now - 60_000),
      notAfterDate: new Date(now + monthMillis),
      extensions: [
        // It is its own authority, and can speak for this machine only.
        { name: "basicConstraints", cA: true, critical: true },
        { name: "keyUsage", digitalSignature: true, keyCertSign: true, critical: true },
        { name: "extKeyUsage", serverAuth: true },
        {
          name: "subjectAltName",
          altNames: [
            { type: 2, value: "localhost" },
            { type: 7, ip: "127.0.0.1" },
            { type: 7, ip: "::1" }
          ]
        }
      ]
    })
  )
  // A text file ends with a newline: what is appended to it begins a line of its own.
  return { key, cert: `${cert.trimEnd()}\n` } satisfies Certificate
})
