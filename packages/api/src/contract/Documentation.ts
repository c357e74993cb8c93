/**
 * What the OpenAPI document says of an endpoint, besides what follows from its schemas.
 */
import * as OpenApi from "effect/http-api/OpenApi"

/** The mark of what the hosted service does not have. */
export const extensionMark = { "x-signalbox-extension": true } as const

/** One line on what the operation does. */
export const summary = (text: string) => OpenApi.annotations({ summary: text })

/** As `summary`, for an endpoint that the hosted service does not have. */
export const extension = (text: string) => OpenApi.annotations({ summary: text, override: extensionMark })
