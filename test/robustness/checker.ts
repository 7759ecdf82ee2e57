// Checks a history (the records of all clients): returns the first violations of each rule, and their number.

import { checkListing, checkRead } from './check-reads.js'
import { checkWatch } from './check-watches.js'
import { checkWrites } from './check-writes.js'
import type { History } from './history.js'
import { isWrite, Timeline } from './timeline.js'
import { Findings, type Violation } from './violation.js'

interface Verdict {
  readonly violations: readonly Violation[]
  /** Number of violations per rule. */
  readonly counts: ReadonlyMap<string, number>
  readonly timeline: Timeline
}

export function judge(history: History): Verdict {
  const timeline = new Timeline(history)
  const findings = new Findings(history)
  checkWrites(timeline, history.records.filter(isWrite), findings)
  for (const record of history.records) {
    if (record.type === 'read') checkRead(timeline, record, findings)
    if (record.type === 'list') checkListing(timeline, record, findings)
    if (record.type === 'watch') checkWatch(timeline, record, findings)
  }
  return { violations: findings.violations, counts: findings.counts, timeline }
}
