// Renders the results of episodes of `npm run robustness` as text.

import type { EpisodeResult } from './episode.js'

export function summaryOf({
  writes,
  reads,
  lists,
  watches,
  events,
  faults,
  problemCounts,
  holes,
  services,
  informerChanges,
  ownerSets,
}: EpisodeResult): string {
  const total = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([message, count]) => `${count} × ${message}`).join(', ') || 'none'
  return [
    `  writes: ${writes.ok} acknowledged, ${writes.refused} rejected, ${writes.unknown} with unknown result; ${reads} reads, ${lists} lists; ${watches} watches with ${events} events; ${services} services, ${ownerSets} owners; informers reported ${informerChanges} changes`,
    `  faults: ${total(faults)}`,
    `  other responses and failures: ${total(problemCounts)}`,
    ...(holes > 0 ? [`  ${holes} gaps between watches, which are checked less strictly`] : []),
  ].join('\n')
}

export function renderViolations({ violations, counts }: EpisodeResult): string {
  const lines = violations.flatMap(({ rule, text, evidence }) => [
    `  VIOLATION ${rule}: ${text}`,
    ...evidence.map((line) => `      ${line}`),
  ])
  const rules = [...counts].map(([rule, count]) => `${rule} × ${count}`).join(', ')
  return [...lines, ...(rules === '' ? [] : [`  total: ${rules}`])].join('\n')
}

/** Totals of all episodes on one engine. */
export class Totals {
  episodes = 0
  failed = 0
  readonly #results: EpisodeResult[] = []

  add(result: EpisodeResult): void {
    this.#results.push(result)
  }

  render(engine: string): string {
    const sum = (countOf: (result: EpisodeResult) => number): number => this.#results.reduce((total, result) => total + countOf(result), 0)
    const faults = sum((result) => [...result.faults.values()].reduce((total, count) => total + count, 0))
    const writes = `${sum(({ writes: { ok } }) => ok)} writes acknowledged, ${sum(({ writes: { refused } }) => refused)} rejected, ${sum(({ writes: { unknown } }) => unknown)} with unknown result`
    const reads = `${sum(({ reads: count }) => count)} reads, ${sum(({ lists }) => lists)} lists, ${sum(({ watches }) => watches)} watches with ${sum(({ events }) => events)} events`
    return `${engine}: ${this.episodes} episodes, ${faults} faults; ${writes}; ${reads}; ${this.failed === 0 ? 'no violation' : `${this.failed} episodes with violations`}`
  }
}
