/**
 * Paths and methods of older generations of the interface, which the service accepts for clients that exist. The
 * document lists them as deprecated.
 */

/** A further path of an operation. Its base path is that of the public interface. */
export interface PathAlias {
  readonly method: "GET" | "POST"
  readonly path: string
  /** The operation that responds, by its identifier. */
  readonly of: string
  /** A query parameter of the operation that the path contains. */
  readonly inPath?: string
  /** The name of a schema in the document, if the response differs from that of the operation. */
  readonly response?: string
}

export const pathAliases: ReadonlyArray<PathAlias> = [
  {
    method: "POST",
    path: "/workspaces/{workspace_id}/work-items/{work_item_id}/files/upload",
    of: "createWorkItemFile",
    response: "UploadForm"
  },
  {
    method: "GET",
    path: "/workspaces/{workspace_id}/process-runs/{process_run_id}/outputs",
    of: "listOutputs",
    inPath: "process_run_id"
  },
  {
    method: "GET",
    path: "/workspaces/{workspace_id}/assistants/{assistant_id}/assistant-runs",
    of: "listAssistantRuns",
    inPath: "assistant_id"
  }
]

/** Whether clients of older generations send the POST of an operation as a PUT, which the service accepts too. */
export const isAlsoPut = ({ identifier, method }: { readonly identifier: string; readonly method: string }): boolean =>
  method === "POST" && (identifier.startsWith("update") || identifier === "addWorkerToGroup")
