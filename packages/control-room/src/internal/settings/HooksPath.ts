/** The path of the addresses of triggers: the token in it is the permission. */
export const hooksPath = "/hooks"

/** Whether an address, or its path, has the token of a trigger. */
export const hasHookToken = (url: string): boolean => url.includes(`${hooksPath}/`)
