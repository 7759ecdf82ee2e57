// The recorded tables by file name, and the function that replays each. Files without a function are reported.

import { replayAudit } from './audit-table.js'
import { replayPolicy, replayRows, replayRule, replayValue } from './cel.js'
import { replayColumns, replayObject, replaySchema } from './custom-resources.js'
import { replayFlow } from './flow-table.js'
import { replayPodSecurity } from './pod-security-table.js'
import { replayQuota } from './quota-table.js'

/** Result of one table. */
export interface ReplayedTable {
  /** Unique names of cases. */
  readonly compared: readonly string[]
  /** Differences by case name; other cases match. */
  readonly differences: ReadonlyMap<string, string>
}

/** Receives the text of the file: some tables have numbers that JSON.parse would round. */
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
