/** Deletes a repository, and tells what came of it; what it cannot tell is logged with what the support asks for. */
import { Octokit, RequestError } from "octokit"

type Options = ConstructorParameters<typeof Octokit>[0]

export const main = async (owner: string, repo: string, options?: Options) => {
  const octokit = new Octokit(options)
  try {
    await octokit.rest.repos.delete({ owner, repo })
    return "deleted"
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const { response, status } = error
    if (status === 404) return "there was none"
    if (status === 409) return "it is in use"
    if (status === 429)
      return `too early, in ${Number(response?.headers["retry-after"]) * 1_000} ms again`
    console.error(
      status,
      error.message,
      response?.headers["x-github-request-id"]
    )
    throw error
  }
}
