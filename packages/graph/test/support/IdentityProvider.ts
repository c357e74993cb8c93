/**
 * The token endpoint as far as tests need to see it from the inside: refresh tokens rotate, and each is counted.
 */
import type { Answer, Received, Server } from "./Server.ts"
import { json } from "./Server.ts"

/** The form of a request. */
export const formOf = (request: Received | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(new URLSearchParams(request?.body ?? ""))

export const tokenError = (error: string, description = `AADSTS70008: ${error}`, status = 400): Answer =>
  json(
    {
      error,
      error_description: `${description}\r\nTrace ID: t-1\r\nCorrelation ID: c-1`,
      error_codes: [70008],
      trace_id: "t-1",
      correlation_id: "c-1"
    },
    status
  )

export const tokens = (n: number, more: Readonly<Record<string, unknown>> = {}): Answer =>
  json({
    token_type: "Bearer",
    scope: "User.Read Files.Read.All",
    expires_in: 3599,
    ext_expires_in: 3599,
    access_token: `AT-${n}`,
    refresh_token: `RT-${n}`,
    ...more
  })

/** `/token` hands out AT-1, AT-2 …; the API takes the newest and nothing else. */
export const serve = (server: Server) => {
  let issued = 0
  server.respond((request) => {
    if (request.url.endsWith("/token")) return tokens(++issued)
    const expected = `Bearer AT-${issued}`
    return issued > 0 && request.headers.authorization === expected
      ? json({ id: "u1", displayName: "Ann" })
      : json({ error: { code: "InvalidAuthenticationToken", message: "Lifetime validation failed" } }, 401)
  })
  return {
    renewals: () => server.received().filter(({ url }) => url.endsWith("/token")),
    calls: () => server.received().filter(({ url }) => !url.endsWith("/token"))
  }
}
