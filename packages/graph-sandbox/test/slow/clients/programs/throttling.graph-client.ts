/** Says when a call is sent again, and gives it up after a time. */
import {
  Client,
  type Options,
  RetryHandlerOptions
} from "@microsoft/microsoft-graph-client"

export const main = async (path: string, millis: number, options: Options) => {
  const told: Array<string> = []
  const client = Client.init(options)
  const retries = new RetryHandlerOptions(
    3,
    3,
    (_delay, attempt, _request, _options, { status }) => {
      told.push(`attempt ${attempt + 2} after ${status}`)
      return true
    }
  )
  const signal = AbortSignal.timeout(millis)
  const encoded = path.split("/").map(encodeURIComponent).join("/")
  try {
    const { name } = await client
      .api(`/me/drive/root:${encoded}`)
      .middlewareOptions([retries])
      .options({ signal })
      .get()
    return [...told, String(name)]
  } catch (error) {
    if (signal.aborted) return [...told, "given up"]
    throw error
  }
}
