// Renders the result of a run of `npm run tenants` as text.

import type { RunResult } from './run.js'

const listed = (counts: ReadonlyMap<unknown, number>): string =>
  [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([key, count]) => `${count} × ${String(key)}`)
    .join(', ') || 'none'

export function renderResult({ checks, faults, storeChecks, objects }: RunResult): string {
  const lines = [
    `  ${checks.total} requests and watch events, by representation of the response:`,
    ...[...checks.requests].sort(([a], [b]) => (a < b ? -1 : 1)).map(([verb, counts]) => `    ${verb.padEnd(26)} ${listed(counts)}`),
    `  statuses (0: none came): ${listed(checks.statuses)}`,
    `  ${(checks.bytes / 2 ** 20).toFixed(0)} MiB of responses searched for marks; ${storeChecks} checks of the store, ${objects} objects in the last one`,
    `  faults: ${listed(faults)}; errors that faults explain: ${listed(checks.tolerated)}`,
  ]
  if (checks.findings.length === 0) return [...lines, '  VERDICT: no foreign byte, no foreign write, no unexplained error'].join('\n')
  const [first] = checks.findings
  return [
    ...lines,
    `  foreign marks (owner, reader; z is the system): ${listed(checks.leaks)}`,
    `  VERDICT: FAILED, the first finding after ${((first?.atMs ?? 0) / 1000).toFixed(1)} s: ${listed(checks.counts)}`,
  ].join('\n')
}
