/**
 * The environment of a task: the variables of existing robot libraries and of the step, and of the worker's environment
 * only what programs need to run.
 */
import type { WorkspaceId } from "@signalbox/api/contract/Ids"
import type { Lease } from "@signalbox/api/robot/WorkerProtocol"
import type { Robot } from "@signalbox/task-package/RobotYaml"
import { defined } from "@signalbox/transport/Defined"
import { delimiter, isAbsolute, join } from "node:path"

export type Variables = Readonly<Record<string, string>>

/** In upper case, since some systems ignore case; also all that begin with `LC_`. */
const inherited = new Set(
  [
    "PATH PATHEXT HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP",
    "HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY",
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS",
    // Browsers and desktops.
    "DISPLAY XAUTHORITY WAYLAND_DISPLAY XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS",
    "SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC USERPROFILE USERNAME APPDATA LOCALAPPDATA PROGRAMDATA",
    "PROGRAMFILES PROGRAMFILES(X86) COMMONPROGRAMFILES NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE"
  ].flatMap((names) => names.split(" "))
)

/** The part of the worker's environment that a task gets: never its keys and tokens. */
export const inheritedFrom = (environment: Readonly<Record<string, string | undefined>>): Variables =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const capitals = name.toUpperCase()
      if (value === undefined || !(inherited.has(capitals) || name.startsWith("LC_"))) return []
      return [[capitals === "PATH" ? capitals : name, value]]
    })
  )

const within = (root: string, paths: ReadonlyArray<string>) =>
  paths.map((path) => (isAbsolute(path) ? path : join(root, path)))

/** What an environment adds. Folders of `pythonPath` are those of the package. */
export interface Built {
  readonly path: ReadonlyArray<string>
  readonly pythonPath: ReadonlyArray<string>
  readonly variables: Variables
}

/** Where the task runs with the programs of the machine. */
export const unbuilt: Built = { path: [], pythonPath: [], variables: {} }

const isProxy = (name: string) => /^(https?|all)_proxy$/i.test(name)

/** The worker is reached without a proxy, by programs that read either name. */
const withoutProxy = (given: Variables): Variables => {
  if (!Object.keys(given).some(isProxy)) return {}
  const exceptions = given["no_proxy"] ?? given["NO_PROXY"] ?? ""
  const list = [...exceptions.split(",").filter(Boolean), "127.0.0.1"].join(",")
  return { NO_PROXY: list, no_proxy: list }
}

/**
 * The whole environment of the task. Values of the service override those of the step, and these those of the machine.
 */
export const make = (options: {
  /** Variables of the step. */
  readonly step: Variables
  /** Variables of the service. */
  readonly service: Variables
  /** The working copy of the package. */
  readonly root: string
  readonly robot: Robot
  readonly machine: Variables
  /** The environment that was built for it, if any. */
  readonly built: Built
}): Variables => {
  const { built, machine, robot, root, service, step } = options
  const given: Variables = {
    // Lines arrive as they are written, not when a buffer is full.
    PYTHONUNBUFFERED: "1",
    PYTHONIOENCODING: "utf-8",
    ...machine,
    ...built.variables,
    ...step
  }
  const path = [...within(root, robot.path), ...built.path, ...(given["PATH"] ? [given["PATH"]] : [])]
  const folders = within(root, [...robot.pythonPath, ...built.pythonPath])
  const pythonPath = [...folders, ...(given["PYTHONPATH"] ? [given["PYTHONPATH"]] : [])]
  return {
    ...given,
    ...withoutProxy(given),
    PATH: path.join(delimiter),
    ...defined({ PYTHONPATH: pythonPath.length === 0 ? undefined : pythonPath.join(delimiter) }),
    ROBOT_ROOT: root,
    ROBOT_ARTIFACTS: join(root, robot.artifactsFolder),
    ...service
  }
}

/**
 * The address of the vault and assets of a workspace, for a run with this token: all that an assistant gets, which has
 * no work items. `origin` is the address of the service without a path.
 */
export const ofWorkspace = (origin: string, workspaceId: WorkspaceId, token: string): Variables => ({
  RC_WORKSPACE_ID: workspaceId,
  RC_API_SECRET_HOST: origin,
  RC_API_SECRET_TOKEN: token,
  RC_API_URL_V1: `${origin}/api/v1/`,
  RC_API_TOKEN_V1: token
})

/** The variables of the service for a step run. `origin` is its address, with or without a trailing slash. */
export const ofStepRun = (lease: Lease, origin: string, workspaceId: WorkspaceId): Variables => {
  const host = origin.replace(/\/+$/, "")
  return {
    ...ofWorkspace(host, workspaceId, lease.run_token),
    RC_PROCESS_ID: lease.process_id,
    RC_PROCESS_RUN_ID: lease.process_run_id,
    ...defined({ RC_ACTIVITY_ID: lease.step_id }),
    RC_ACTIVITY_RUN_ID: lease.step_run_id,
    RC_ROBOT_RUN_ID: lease.step_run_id,
    RC_WORKITEM_ID: lease.work_item_id,
    RC_API_WORKITEM_HOST: host,
    RC_API_WORKITEM_TOKEN: lease.run_token,
    RC_API_PROCESS_HOST: host,
    RC_API_PROCESS_TOKEN: lease.run_token
  }
}
