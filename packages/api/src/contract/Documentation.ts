/**
 * What the OpenAPI document says of an endpoint, besides what follows from its schemas.
 */
import * as Context from "effect/Context"
import * as OpenApi from "effect/http-api/OpenApi"

/** The mark of what the hosted service does not have. */
export const extensionMark = { "x-signalbox-extension": true } as const

/** Whether an endpoint has that mark. */
export const isExtension = (endpoint: { readonly annotations: Context.Context<never> }): boolean => {
  const override = Context.getOrUndefined(endpoint.annotations, OpenApi.Override)
  return override !== undefined && "x-signalbox-extension" in override
}

/** One line on what the operation does. */
export const summary = (text: string) => OpenApi.annotations({ summary: text })

/** As `summary`, for an endpoint that the hosted service does not have. */
export const extension = (text: string) => OpenApi.annotations({ summary: text, override: extensionMark })
