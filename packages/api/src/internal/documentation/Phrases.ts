/** Sentences of several operations. */

/** 400 of lists. */
export const badPage =
  "`limit` is not a positive integer, a filter is invalid, or `cursor` is not from this list with the same filters. The message names the parameter; begin again without `cursor`."

/** 400 of bodies. */
export const badBody = "A field of the body is missing or invalid; the message names it. Nothing was changed."

/** 400 of bodies, and of the rules that hold between their fields. */
export const badBodyOr = (more: string) =>
  `A field of the body is missing or invalid, or ${more}; the message names the field. Nothing was changed.`

/** 404 of one resource. */
export const unknown = (what: string) =>
  `The workspace has no ${what} with this id; it may have been deleted. Ids of other workspaces count as unknown.`

/** 404 of two resources. */
export const unknownOne = (one: string, other: string) =>
  `The workspace has no ${one} with this id, or no ${other}; the message names which.`

/** 413 of payloads. */
export const largePayload =
  "The payload is larger than 1 MiB, or the body larger than 8 MiB. Nothing was stored; attach large data as a file."

/** 409 of names. */
export const nameExists = (what: string) =>
  `Another ${what} of the workspace has this name. Choose another name, or change that one.`
