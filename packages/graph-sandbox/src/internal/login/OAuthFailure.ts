/**
 * What the identity provider refuses, by error and AADSTS code.
 */
import * as Schema from "effect/Schema"
import * as Ids from "../model/Ids.ts"

export class OAuthFailure extends Schema.TaggedError<OAuthFailure>()("OAuthFailure", {
  status: Schema.Finite,
  error: Schema.String,
  code: Schema.Finite,
  message: Schema.String,
  /** What kind of an `invalid_grant` it is; identity libraries ask the user to sign in again by it. */
  suberror: Schema.optionalKey(Schema.String)
}) {}

const make = (error: string, code: number, message: string, status = 400) =>
  new OAuthFailure({ error, code, message, status })

export const missing = (parameter: string) =>
  make("invalid_request", 900144, `The request body must contain the following parameter: '${parameter}'.`)
export const unknownTenant = (tenant: string) =>
  make("invalid_tenant", 90002, `Tenant '${tenant}' not found. Check to make sure you have the correct tenant ID.`)
export const unknownApp = (clientId: string) =>
  make("unauthorized_client", 700016, `Application with identifier '${clientId}' was not found in the directory.`)
export const redirectMismatch = (redirect: string) =>
  make(
    "invalid_request",
    50011,
    `The redirect URI '${redirect}' specified in the request does not match the redirect URIs configured for the application.`
  )
export const redirectDiffers = make(
  "invalid_grant",
  500112,
  "The reply address does not match the reply address that the code was given for."
)
export const badSecret = make("invalid_client", 7000215, "Invalid client secret provided.", 401)
export const noSecret = make(
  "invalid_client",
  7000218,
  "The request body must contain the following parameter: 'client_assertion' or 'client_secret'.",
  401
)
export const badAssertion = make("invalid_client", 50027, "JWT token is invalid or malformed.", 401)
export const unknownSigner = make(
  "invalid_client",
  700027,
  "The certificate or identity that signed the client assertion is not registered on the application.",
  401
)
export const badSignature = make("invalid_client", 700027, "Client assertion failed signature validation.", 401)
export const badAudience = make(
  "invalid_client",
  700023,
  "Client assertion audience claim does not match the token endpoint.",
  401
)
export const assertionExpired = make(
  "invalid_client",
  700024,
  "Client assertion is not within its valid time range.",
  401
)
export const publicSecret = make(
  "invalid_client",
  700025,
  "Client is public so neither 'client_assertion' nor 'client_secret' should be presented.",
  401
)
export const badCode = make("invalid_grant", 9002313, "Invalid request. The provided authorization code is malformed.")
export const codeExpired = make("invalid_grant", 70008, "The provided authorization code has expired.")
export const codeRedeemed = make(
  "invalid_grant",
  54005,
  "OAuth2 Authorization code was already redeemed, please retry with a new valid code or use an existing refresh token."
)
export const noVerifier = make(
  "invalid_grant",
  501481,
  "The Code_Verifier does not match the code_challenge supplied in the authorization request."
)
export const refreshExpired = new OAuthFailure({
  error: "invalid_grant",
  code: 700082,
  message: "The refresh token has expired due to inactivity.",
  status: 400,
  suberror: "bad_token"
})
export const badRefresh = make("invalid_grant", 9002313, "Invalid request. The provided refresh token is malformed.")
export const badScope = (scope: string) =>
  make("invalid_scope", 70011, `The provided value for the input parameter 'scope' is not valid. Scope: ${scope}`)
export const badGrantType = (type: string) =>
  make("unsupported_grant_type", 70003, `The app requested an unsupported grant type '${type}'.`)
export const badChallengeMethod = make("invalid_request", 501491, "The code_challenge_method must be S256.")
export const challengeWanted = make(
  "invalid_request",
  9002325,
  "Proof Key for Code Exchange is required for cross-origin authorization code redemption."
)
export const badResponseType = make("unsupported_response_type", 700054, "The response_type must be 'code'.")
export const badResponseMode = (mode: string) =>
  make("invalid_request", 900561, `The response_mode '${mode}' is not query, form_post or fragment.`)
export const signInWanted = make("login_required", 50058, "A silent sign-in request was sent but no user is signed in.")
export const declined = make("access_denied", 65004, "User declined to consent to access the app.")
export const pending = make("authorization_pending", 70016, "The user has not finished signing in yet.")
export const deviceDeclined = make("authorization_declined", 70018, "The user declined the request.")
export const deviceExpired = make("expired_token", 70019, "The device code has expired.")
export const badDevice = make("bad_verification_code", 70018, "The device code is not known.")
export const unavailable = (status: number) =>
  make("temporarily_unavailable", 90033, "A transient error has occurred. Please try again.", status)

/** As the provider describes it, with what one needs to find it in a log. */
export const body = (
  { code, error, message, suberror }: OAuthFailure,
  correlationId: string,
  now: number,
  origin: string
) => {
  const timestamp = `${new Date(now).toISOString().slice(0, 19).replace("T", " ")}Z`
  const traceId = Ids.random()
  return {
    error,
    error_description:
      `AADSTS${code}: ${message} Trace ID: ${traceId} Correlation ID: ${correlationId} Timestamp: ${timestamp}`.replace(
        / (?=Trace ID|Correlation ID|Timestamp)/g,
        "\r\n"
      ),
    error_codes: [code],
    timestamp,
    trace_id: traceId,
    correlation_id: correlationId,
    error_uri: `${origin}/error?code=${code}`,
    suberror
  }
}
