/** The names and attributes of cookies of the console, which follow from the room and its public URL. */
import * as Duration from "effect/Duration"
import { createHash } from "node:crypto"
import { sessionLifetime } from "../store/access/ConsoleSessions.ts"

/** `fingerprint`: of the master key. Cookies ignore ports: rooms on one machine tell theirs apart by name. */
export const cookiesOf = (publicUrl: string, fingerprint: string | null) => {
  const { pathname, protocol } = new URL(publicUrl)
  const room = createHash("sha256")
    .update(fingerprint ?? "")
    .digest("hex")
    .slice(0, 12)
  const isSecure = protocol === "https:"
  const path = pathname === "/" ? "/" : `${pathname.replace(/\/+$/, "")}/`
  const prefix = !isSecure ? "" : path === "/" ? "__Host-" : "__Secure-"
  const name = `${prefix}signalbox-${room}`
  const attributesOf = (sameSite: "Strict" | "Lax") =>
    `Path=${path}; HttpOnly; SameSite=${sameSite}${isSecure ? "; Secure" : ""}`
  const attributes = attributesOf("Strict")
  return {
    name,
    /** Of the mark of a browser in which somebody has signed in. */
    browserName: `${prefix}signalbox-browser-${room}`,
    /** Of a sign-in with a provider that the browser has begun. */
    begunName: `${prefix}signalbox-provider-${room}`,
    attributes,
    attributesOf,
    /** The `Set-Cookie` of a session; null: of none any more. */
    cookie: (token: string | null) =>
      token === null
        ? `${name}=; ${attributes}; Max-Age=0`
        : `${name}=${token}; ${attributes}; Max-Age=${Duration.toSeconds(sessionLifetime)}`
  }
}
