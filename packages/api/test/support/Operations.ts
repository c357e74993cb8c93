/**
 * Every operation, written by hand from the description of the interface: method, path below the prefix, permission.
 */

/** The interface of the service as described. `{w}` is the workspace. */
export const specified = `
GET    /workspaces/{w}                                                 -

GET    /workspaces/{w}/assets/{asset_id}                               Assets.read_asset_storage_assets
GET    /workspaces/{w}/assets                                          Assets.read_asset_storage_assets
POST   /workspaces/{w}/assets                                          Assets.write_asset_storage_assets
POST   /workspaces/{w}/assets/{asset_id}/uploads                       Assets.write_asset_storage_assets
GET    /workspaces/{w}/assets/{asset_id}/uploads/{upload_id}           Assets.write_asset_storage_assets
DELETE /workspaces/{w}/assets/{asset_id}                               Assets.write_asset_storage_assets

GET    /workspaces/{w}/assistants/{assistant_id}                       Assistants.read_assistants
GET    /workspaces/{w}/assistants                                      Assistants.read_assistants
POST   /workspaces/{w}/assistants                                      Assistants.write_assistants
GET    /workspaces/{w}/assistant-runs/{assistant_run_id}               Assistants.read_assistants
GET    /workspaces/{w}/assistant-runs                                  Assistants.read_assistants

GET    /workspaces/{w}/processes/{process_id}                          Processes.read_processes
GET    /workspaces/{w}/processes                                       Processes.read_processes
GET    /workspaces/{w}/process-runs/{process_run_id}                   Processes.read_processes
GET    /workspaces/{w}/process-runs                                    Processes.read_runs
GET    /workspaces/{w}/outputs                                         Processes.read_work_items
DELETE /workspaces/{w}/process-runs/{process_run_id}                   Processes.trigger_processes
POST   /workspaces/{w}/processes/{process_id}/process-runs             Processes.trigger_processes
POST   /workspaces/{w}/processes/{process_id}/process-runs-integrations Processes.trigger_processes
POST   /workspaces/{w}/process-runs/{process_run_id}/stop              Processes.trigger_processes

GET    /workspaces/{w}/step-runs/{step_run_id}                         Processes.read_runs
GET    /workspaces/{w}/step-runs                                       Processes.read_processes
GET    /workspaces/{w}/step-runs/{step_run_id}/artifacts               Processes.read_run_outputs
GET    /workspaces/{w}/step-runs/{step_run_id}/artifacts/{artifact_id} Processes.read_run_outputs
GET    /workspaces/{w}/step-runs/{step_run_id}/console-messages        Processes.read_run_outputs
GET    /workspaces/{w}/step-runs/{step_run_id}/events                  Processes.read_run_outputs

GET    /workspaces/{w}/task-packages/{task_package_id}                 Tasks.read_task_packages
POST   /workspaces/{w}/task-packages                                   Tasks.write_task_packages
POST   /workspaces/{w}/task-packages/{task_package_id}                 Tasks.write_task_packages
DELETE /workspaces/{w}/task-packages/{task_package_id}                 Tasks.write_task_packages

GET    /workspaces/{w}/secrets                                         Vault.read_secrets
POST   /workspaces/{w}/secrets                                         Vault.write_secrets
POST   /workspaces/{w}/secrets/{secret_name}                           Vault.write_secrets
DELETE /workspaces/{w}/secrets/{secret_name}                           Vault.write_secrets

GET    /workspaces/{w}/webhooks/{webhook_id}                           Webhooks.read_webhooks
GET    /workspaces/{w}/webhooks                                        Webhooks.read_webhooks
POST   /workspaces/{w}/webhooks                                        Webhooks.write_webhooks
DELETE /workspaces/{w}/webhooks/{webhook_id}                           Webhooks.write_webhooks

GET    /workspaces/{w}/work-items/{work_item_id}                       Processes.read_work_items
GET    /workspaces/{w}/work-items                                      Processes.read_work_items
POST   /workspaces/{w}/work-items                                      Processes.write_work_items
POST   /workspaces/{w}/work-items/{work_item_id}/files                 Processes.write_work_items
POST   /workspaces/{w}/work-items/{work_item_id}/payload               Processes.write_work_items
POST   /workspaces/{w}/work-items/batch                                Processes.write_work_items

GET    /workspaces/{w}/workers/{worker_id}                             Workers.read_workers
GET    /workspaces/{w}/workers                                         Workers.read_workers
POST   /workspaces/{w}/workers/{worker_id}                             Workers.write_workers
DELETE /workspaces/{w}/workers/{worker_id}                             Workers.write_workers
GET    /workspaces/{w}/worker-groups/{worker_group_id}                 Workers.read_workers
GET    /workspaces/{w}/worker-groups                                   Workers.read_workers
POST   /workspaces/{w}/worker-groups                                   Workers.write_workers
POST   /workspaces/{w}/worker-groups/{worker_group_id}                 Workers.write_workers
DELETE /workspaces/{w}/worker-groups/{worker_group_id}                 Workers.write_workers
POST   /workspaces/{w}/worker-groups/{worker_group_id}/workers         Workers.write_workers
DELETE /workspaces/{w}/worker-groups/{worker_group_id}/workers/{worker_id} Workers.write_workers
`

/** The extensions of this project. */
export const extensions = `
GET    /workspaces/{w}/throughput                                      Processes.read_work_items
POST   /workspaces/{w}/work-items/bulk                                 Processes.write_work_items
POST   /workspaces/{w}/work-items/{work_item_id}/reveal                Processes.read_sensitive
GET    /workspaces/{w}/failures                                        Failures.read_failures
GET    /workspaces/{w}/failures/{failure_id}                           Failures.read_failures
POST   /workspaces/{w}/failures/{failure_id}                           Failures.write_failures
GET    /workspaces/{w}/bulk-operations                                 Processes.run_bulk_operations
POST   /workspaces/{w}/bulk-operations                                 Processes.run_bulk_operations
GET    /workspaces/{w}/bulk-operations/{bulk_operation_id}             Processes.run_bulk_operations
POST   /workspaces/{w}/bulk-operations/{bulk_operation_id}/cancel      Processes.run_bulk_operations
POST   /workspaces/{w}/process-runs/{process_run_id}/start-again       Processes.trigger_processes
GET    /workspaces/{w}/process-runs/{process_run_id}/steps             Processes.read_runs

POST   /workspaces/{w}/processes                                       Processes.write_processes
POST   /workspaces/{w}/processes/{process_id}                          Processes.write_processes
GET    /workspaces/{w}/processes/{process_id}/definition               Processes.read_processes
GET    /workspaces/{w}/processes/{process_id}/limits                   Processes.read_work_items
DELETE /workspaces/{w}/processes/{process_id}                          Processes.write_processes
POST   /workspaces/{w}/processes/{process_id}/pause                    Processes.pause_processes
POST   /workspaces/{w}/processes/{process_id}/resume                   Processes.pause_processes
POST   /workspaces/{w}/processes/{process_id}/steps/{step_id}/pause    Processes.pause_processes
POST   /workspaces/{w}/processes/{process_id}/steps/{step_id}/resume   Processes.pause_processes
POST   /workspaces/{w}/workers/{worker_id}/pause                       Workers.pause_workers
POST   /workspaces/{w}/workers/{worker_id}/resume                      Workers.pause_workers
POST   /workspaces/{w}/worker-groups/{worker_group_id}/pause           Workers.pause_workers
POST   /workspaces/{w}/worker-groups/{worker_group_id}/resume          Workers.pause_workers

GET    /workspaces/{w}/secrets/{secret_name}                           Vault.read_secrets
POST   /workspaces/{w}/secrets/{secret_name}/items                     Vault.write_secrets

GET    /workspaces/{w}/task-packages                                   Tasks.read_task_packages
GET    /workspaces/{w}/task-packages/{task_package_id}/download        Tasks.read_task_packages
GET    /workspaces/{w}/task-packages/{task_package_id}/upload          Tasks.write_task_packages
GET    /workspaces/{w}/task-packages/{task_package_id}/versions        Tasks.read_task_packages
GET    /workspaces/{w}/task-packages/{task_package_id}/versions/{version}          Tasks.read_task_packages
POST   /workspaces/{w}/task-packages/{task_package_id}/versions/{version}/promote  Tasks.write_task_packages
POST   /workspaces/{w}/task-packages/{task_package_id}/rollback        Tasks.write_task_packages

GET    /workspaces/{w}/queue-depth                                     Workers.read_workers
POST   /workspaces/{w}/workers/link-tokens                             Workers.write_workers
POST   /workspaces/{w}/workers/{worker_id}/drain                       Workers.write_workers
GET    /workspaces/{w}/worker-groups/{worker_group_id}/link-tokens     Workers.read_workers
POST   /workspaces/{w}/worker-groups/{worker_group_id}/link-tokens     Workers.write_workers
GET    /workspaces/{w}/worker-groups/{worker_group_id}/link-tokens/{token_id}  Workers.read_workers
POST   /workspaces/{w}/worker-groups/{worker_group_id}/link-tokens/{token_id}  Workers.write_workers
DELETE /workspaces/{w}/worker-groups/{worker_group_id}/link-tokens/{token_id}  Workers.write_workers

POST   /workspaces/{w}/assistants/{assistant_id}/runs                  Assistants.run_assistants
POST   /workspaces/{w}/assistant-runs/{assistant_run_id}/heartbeat     Assistants.run_assistants
POST   /workspaces/{w}/assistant-runs/{assistant_run_id}/complete      Assistants.run_assistants

POST   /workspaces/{w}/webhooks/{webhook_id}                           Webhooks.write_webhooks
POST   /workspaces/{w}/webhooks/{webhook_id}/test                      Webhooks.write_webhooks
GET    /workspaces/{w}/webhooks/{webhook_id}/deliveries                Webhooks.read_webhooks
POST   /workspaces/{w}/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver  Webhooks.write_webhooks

GET    /workspaces/{w}/schedules/{schedule_id}                         Schedules.read_schedules
GET    /workspaces/{w}/schedules                                       Schedules.read_schedules
POST   /workspaces/{w}/schedules                                       Schedules.write_schedules
POST   /workspaces/{w}/schedules/{schedule_id}                         Schedules.write_schedules
DELETE /workspaces/{w}/schedules/{schedule_id}                         Schedules.write_schedules
POST   /workspaces/{w}/schedules/{schedule_id}/pause                   Schedules.write_schedules
POST   /workspaces/{w}/schedules/{schedule_id}/resume                  Schedules.write_schedules
GET    /workspaces/{w}/schedules/{schedule_id}/next                    Schedules.read_schedules
POST   /workspaces/{w}/schedules/preview                               Schedules.read_schedules
GET    /workspaces/{w}/schedules/{schedule_id}/occurrences             Schedules.read_schedules

GET    /workspaces/{w}/triggers/{trigger_id}                           Triggers.read_triggers
GET    /workspaces/{w}/triggers                                        Triggers.read_triggers
POST   /workspaces/{w}/triggers                                        Triggers.write_triggers
POST   /workspaces/{w}/triggers/{trigger_id}                           Triggers.write_triggers
POST   /workspaces/{w}/triggers/{trigger_id}/rotate-url                Triggers.write_triggers
DELETE /workspaces/{w}/triggers/{trigger_id}                           Triggers.write_triggers

GET    /workspaces/{w}/alerts/{alert_id}                               Alerts.read_alerts
GET    /workspaces/{w}/alerts                                          Alerts.read_alerts
POST   /workspaces/{w}/alerts                                          Alerts.write_alerts
POST   /workspaces/{w}/alerts/{alert_id}                               Alerts.write_alerts
DELETE /workspaces/{w}/alerts/{alert_id}                               Alerts.write_alerts
POST   /workspaces/{w}/alerts/{alert_id}/test                          Alerts.write_alerts
POST   /workspaces/{w}/alerts/{alert_id}/mute                          Alerts.write_alerts
POST   /workspaces/{w}/alerts/{alert_id}/unmute                        Alerts.write_alerts
GET    /workspaces/{w}/alerts/{alert_id}/messages                      Alerts.read_alerts
GET    /workspaces/{w}/alert-firings                                   Alerts.read_alerts

GET    /workspaces/{w}/alert-channels/{channel_id}                     Alerts.read_alerts
GET    /workspaces/{w}/alert-channels                                  Alerts.read_alerts
POST   /workspaces/{w}/alert-channels                                  Alerts.write_alerts
POST   /workspaces/{w}/alert-channels/{channel_id}                     Alerts.write_alerts
POST   /workspaces/{w}/alert-channels/{channel_id}/rotate-secret       Alerts.write_alerts
DELETE /workspaces/{w}/alert-channels/{channel_id}                     Alerts.write_alerts

GET    /workspaces/{w}/api-keys                                        Workspace.manage_api_keys
POST   /workspaces/{w}/api-keys                                        Workspace.manage_api_keys
POST   /workspaces/{w}/api-keys/{api_key_id}                           Workspace.manage_api_keys
DELETE /workspaces/{w}/api-keys/{api_key_id}                           Workspace.manage_api_keys

GET    /workspaces/{w}/users                                           Workspace.read_users
GET    /workspaces/{w}/users/{user_id}                                 Workspace.read_users
POST   /workspaces/{w}/users                                           Workspace.manage_users
POST   /workspaces/{w}/users/{user_id}                                 Workspace.manage_users
POST   /workspaces/{w}/users/{user_id}/link                            Workspace.manage_users
DELETE /workspaces/{w}/users/{user_id}                                 Workspace.manage_users
GET    /workspaces/{w}/users/{user_id}/sessions                        Workspace.manage_users
DELETE /workspaces/{w}/users/{user_id}/sessions                        Workspace.manage_users
DELETE /workspaces/{w}/users/{user_id}/second-factor                   Workspace.manage_users
GET    /workspaces/{w}/sign-in-rules                                   Workspace.read_users
POST   /workspaces/{w}/sign-in-rules                                   Workspace.manage_users

GET    /workspaces/{w}/roles                                           Workspace.read_users
POST   /workspaces/{w}/roles/{role_name}                               Workspace.manage_users
DELETE /workspaces/{w}/roles/{role_name}                               Workspace.manage_users

GET    /workspaces/{w}/audit                                           Audit.read_audit
GET    /workspaces/{w}/audit/head                                      Audit.read_audit
GET    /workspaces/{w}/audit/export                                    Audit.read_audit

POST   /workspaces/{w}/console-tickets                                 -

GET    /workspaces/{w}/changes                                         -

POST   /workspaces                                                     Workspace.manage_api_keys

GET    /workspaces/{w}/room                                            -
POST   /workspaces/{w}/room/resume                                     Room.manage
`

/** The interface of workers, below `/worker-v1`; also an extension. */
export const workerSide = `
POST   /link                                                           -
DELETE /link                                                           -
POST   /lease                                                          -
POST   /heartbeat                                                      -
POST   /step-runs/{step_run_id}/start                                  -
POST   /step-runs/{step_run_id}/build                                  -
POST   /process-runs/{process_run_id}/next                             -
POST   /step-runs/{step_run_id}/console                                -
POST   /step-runs/{step_run_id}/events                                 -
POST   /step-runs/{step_run_id}/artifacts                              -
POST   /step-runs/{step_run_id}/finish                                 -
`

/** The robot side, at the origin. */
export const robotSide = `
POST   /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}/reserve-next-work-item  -
POST   /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}/release-work-item       -
POST   /process-v1/workspaces/{w}/processes/{process_id}/work-items/{work_item_id}/output  -
GET    /json-v1/workspaces/{w}/workitems/{work_item_id}/data                               -
PUT    /json-v1/workspaces/{w}/workitems/{work_item_id}/data                               -
GET    /json-v1/workspaces/{w}/workitems/{work_item_id}/files                              -
POST   /json-v1/workspaces/{w}/workitems/{work_item_id}/files                              -
GET    /json-v1/workspaces/{w}/workitems/{work_item_id}/files/{file_id}                    -
DELETE /json-v1/workspaces/{w}/workitems/{work_item_id}/files/{file_id}                    -
GET    /secrets-v1/workspaces/{w}/secrets/{secret_name}                                    Vault.read_secret_values
PUT    /secrets-v1/workspaces/{w}/secrets/{secret_name}                                    Vault.write_secrets
GET    /secrets-v1/workspaces/{w}/secrets/publicKey                                        -
`

/** The older interface, at the origin. */
export const older = `
GET    /process-v1/workspaces/{w}/processes                                                Processes.read_processes
POST   /process-v1/workspaces/{w}/processes/{process_id}/runs                              Processes.trigger_processes
POST   /process-v1/workspaces/{w}/processes/{process_id}/runs-batch                        Processes.trigger_processes
POST   /process-v1/workspaces/{w}/processes/{process_id}/run-request                       Processes.trigger_processes
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs                              Processes.read_runs
GET    /process-v1/workspaces/{w}/pruns                                                    Processes.read_runs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}             Processes.read_runs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/work-items  Processes.read_work_items
GET    /process-v1/workspaces/{w}/processes/{process_id}/work-items                        Processes.read_work_items
POST   /process-v1/workspaces/{w}/processes/{process_id}/work-items                        Processes.write_work_items
GET    /process-v1/workspaces/{w}/processes/{process_id}/work-items/{work_item_id}         Processes.read_work_items
POST   /process-v1/workspaces/{w}/processes/{process_id}/work-items/{work_item_id}/files/upload  Processes.write_work_items
POST   /process-v1/workspaces/{w}/processes/{process_id}/work-items/{work_item_id}/retry   Processes.write_work_items
POST   /process-v1/workspaces/{w}/work-items/batch                                         Processes.write_work_items
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns                          Processes.read_runs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}            Processes.read_runs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}/artifacts  Processes.read_run_outputs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}/artifacts/{artifact_id}/{file_name}  Processes.read_run_outputs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}/messages   Processes.read_run_outputs
GET    /process-v1/workspaces/{w}/processes/{process_id}/runs/{process_run_id}/robotRuns/{step_run_id}/events     Processes.read_run_outputs
GET    /robot-v2/workspaces/{w}/robots                                                     Tasks.read_task_packages
GET    /robot-v2/workspaces/{w}/robots/{task_package_id}/file/uploadlink                   Tasks.write_task_packages
`

/** The lines of a table as `METHOD path permission`, with the prefix before the path. */
export const lines = (table: string, prefix = ""): ReadonlyArray<string> =>
  table
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [method, path, permission] = line.trim().split(/\s+/)
      return `${method} ${prefix}${path?.replace("{w}", "{workspace_id}")} ${permission}`
    })
