/** Twenty people in one request. One who does not exist is a result, too. */
import {
  BatchRequestContent,
  BatchResponseContent,
  Client,
  type Options
} from "@microsoft/microsoft-graph-client"

export const main = async (names: ReadonlyArray<string>, options: Options) => {
  const client = Client.init(options)
  const steps = names.map((name, index) => ({
    id: String(index),
    request: new Request(
      `https://graph.microsoft.com/users/${encodeURIComponent(name)}`
    )
  }))
  const content = await new BatchRequestContent(steps).getContent()
  const results = new BatchResponseContent(
    await client.api("/$batch").post(content)
  )
  return names.filter((_, index) => !results.getResponseById(String(index)).ok)
}
