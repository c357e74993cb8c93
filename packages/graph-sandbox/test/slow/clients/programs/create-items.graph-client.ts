/** Makes an item of a list of each row, in requests of twenty, and says of each row what became of it. */
import {
  BatchRequestContent,
  BatchResponseContent,
  Client,
  type Options
} from "@microsoft/microsoft-graph-client"

interface Book {
  readonly Title: string
  readonly Pages?: number
  readonly Read?: Date
}

export const main = async (
  address: string,
  books: ReadonlyArray<Book>,
  options: Options
) => {
  const client = Client.init(options)
  const { hostname, pathname } = new URL(address)
  const site = await client.api(`/sites/${hostname}:${pathname}`).get()
  const results: Array<string> = []
  for (let from = 0; from < books.length; from += 20) {
    const steps = books.slice(from, from + 20).map((fields, index) => ({
      id: String(index),
      request: new Request(
        `https://graph.microsoft.com/sites/${site.id}/lists/Books/items`,
        {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ fields })
        }
      )
    }))
    const content = await new BatchRequestContent(steps).getContent()
    const responses = new BatchResponseContent(
      await client.api("/$batch").post(content)
    )
    for (const { id } of steps) {
      const response = responses.getResponseById(id)
      const body = await response.json()
      results.push(response.ok ? body.id : body.error.code)
    }
  }
  return results
}
