/** The servers to which the room itself sends a secret: those of the repositories and mail servers that name it already. */
import type { Statement } from "@signalbox/sql/Migrations"

const named = {
  sqlite: `
    SELECT workspace_id, credentials_secret AS secret, lower(substr(rest, 1, instr(rest || '/', '/') - 1)) AS target
    FROM (SELECT workspace_id, credentials_secret, substr(repository, instr(repository, '://') + 3) AS rest FROM package_source)
    WHERE credentials_secret IS NOT NULL
    UNION SELECT workspace_id, json_extract(email, '$.password_from.secret'), lower(target) FROM alert_channel
    WHERE json_extract(email, '$.password_from.secret') IS NOT NULL`,
  postgres: `
    SELECT workspace_id, credentials_secret AS secret, lower(substring(repository from '://([^/]+)')) AS target
    FROM package_source WHERE credentials_secret IS NOT NULL
    UNION SELECT workspace_id, email::json #>> '{password_from,secret}', lower(target) FROM alert_channel
    WHERE email::json #>> '{password_from,secret}' IS NOT NULL`
}

export const statements: ReadonlyArray<Statement> = [
  `ALTER TABLE secret ADD COLUMN hosts TEXT NOT NULL DEFAULT '[]'`,
  {
    sqlite: `
      UPDATE secret SET hosts = (
        SELECT json_group_array(DISTINCT CASE WHEN target LIKE '[%' THEN substr(target, 1, instr(target, ']'))
          ELSE substr(target, 1, instr(target || ':', ':') - 1) END)
        FROM (${named.sqlite}) WHERE workspace_id = secret.workspace_id AND secret = secret.name)`,
    postgres: `
      UPDATE secret SET hosts = coalesce((
        SELECT json_agg(DISTINCT substring(target from '^(\\[[^]]*\\]|[^:]*)'))::text
        FROM (${named.postgres}) AS named WHERE named.workspace_id = secret.workspace_id AND named.secret = secret.name), '[]')`
  }
]
