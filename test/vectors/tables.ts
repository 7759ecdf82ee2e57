// The tables of inputs and what the reference makes of them, by the name of their file, and who replays each. A file that is not here, or has
// nobody yet, is printed as such.

import { replayAudit } from './audit-table.js'
import { replayPolicy, replayRows, replayRule, replayValue } from './cel.js'
import { replayColumns, replayObject, replaySchema } from './custom.js'
import { replayFlow } from './flow-table.js'
import { replayPodSecurity } from './pod-security-table.js'
import { replayQuota } from './quota-table.js'

/** What came of one table. */
export interface ReplayedTable {
  /** Names of cases; each is there once. */
  readonly compared: readonly string[]
  /** By name, what differs, for whoever looks into it. Cases that are not here match. */
  readonly differences: ReadonlyMap<string, string>
}

/** Gets the text of the file: some tables hold numbers that a plain parser would round. */
export type ReplayTable = (text: string) => Promise<ReplayedTable>

export const tables: { readonly [file: string]: ReplayTable | undefined } = {
  'audit.json': replayAudit,
  'cel.json': replayRows(replayRule),
  'cel-policy.json': replayRows(replayPolicy),
  'cel-values.json': replayRows(replayValue),
  'flow.json': replayFlow,
  'jsonpath-columns.json': replayRows(replayColumns),
  'schema-values.json': replayRows(replayObject),
  'structural-schema.json': replayRows(replaySchema),
  'pod-security.json': replayPodSecurity,
  'quota-usage.json': replayQuota,
}
