/** Annotations for the OpenAPI document, besides what follows from schemas. */
import * as Context from "effect/Context"
import * as OpenApi from "effect/http-api/OpenApi"

/** Marks operations that the hosted service does not have. */
export const extensionMark = { "x-signalbox-extension": true } as const

/** Whether an endpoint is marked as an extension. */
export const isExtension = (endpoint: { readonly annotations: Context.Context<never> }): boolean => {
  const override = Context.getOrUndefined(endpoint.annotations, OpenApi.Override)
  return override !== undefined && "x-signalbox-extension" in override
}

/**
 * Annotates an endpoint of the hosted service with the keys of its body that are extensions. Bodies of extensions, and
 * those with one of these keys, must have no unknown keys; all others may, since clients that exist send them.
 */
export const ExtensionKeys = Context.Reference<ReadonlyArray<string>>("@signalbox/api/contract/ExtensionKeys", {
  defaultValue: () => []
})

/**
 * Annotates an endpoint whose body may be empty, and means something then, with the members that it may have and with what
 * to write for another one. A body that has other members only is refused: it was meant to say something.
 */
export const MembersOfBody = Context.Reference<{
  readonly known: ReadonlyArray<string>
  readonly remedy: (name: string) => string
} | null>("@signalbox/api/contract/MembersOfBody", { defaultValue: () => null })

/** The summary of an operation, in one line. */
export const summary = (text: string) => OpenApi.annotations({ summary: text })

/** Like `summary`, for an endpoint that the hosted service does not have. */
export const extension = (text: string) => OpenApi.annotations({ summary: text, override: extensionMark })

/** Like `summary`, for an endpoint of the older interface: new clients use the newer one. */
export const older = (text: string) => OpenApi.annotations({ summary: text, deprecated: true })
