// The result of an episode in words.

import type { EpisodeResult } from './episode.js'

export function summaryOf({
  writes,
  reads,
  lists,
  watches,
  events,
  faults,
  troubles,
  holes,
  services,
  informed,
  families,
}: EpisodeResult): string {
  const total = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([what, count]) => `${count} × ${what}`).join(', ') || 'none'
  return [
    `  writes: ${writes.ok} acknowledged, ${writes.refused} refused, ${writes.unknown} in doubt; ${reads} reads, ${lists} lists; ${watches} watches with ${events} events; ${services} services, ${families} families; informers told of ${informed} changes`,
    `  faults: ${total(faults)}`,
    `  answers and failures beside that: ${total(troubles)}`,
    ...(holes > 0 ? [`  ${holes} stretches of history were seen by no watch, and checked less strictly`] : []),
  ].join('\n')
}

export function tellViolations({ violations, counts }: EpisodeResult): string {
  const lines = violations.flatMap(({ rule, text, story }) => [`  VIOLATION ${rule}: ${text}`, ...story.map((line) => `      ${line}`)])
  const rules = [...counts].map(([rule, count]) => `${rule} × ${count}`).join(', ')
  return [...lines, ...(rules === '' ? [] : [`  in all: ${rules}`])].join('\n')
}

/** What all episodes on one engine come to. */
export class Totals {
  episodes = 0
  failed = 0
  readonly #results: EpisodeResult[] = []

  add(result: EpisodeResult): void {
    this.#results.push(result)
  }

  tell(engine: string): string {
    const sum = (of: (result: EpisodeResult) => number): number => this.#results.reduce((total, result) => total + of(result), 0)
    const faults = sum((result) => [...result.faults.values()].reduce((total, count) => total + count, 0))
    const writes = `${sum(({ writes: { ok } }) => ok)} writes acknowledged, ${sum(({ writes: { refused } }) => refused)} refused, ${sum(({ writes: { unknown } }) => unknown)} in doubt`
    const reads = `${sum(({ reads: count }) => count)} reads, ${sum(({ lists }) => lists)} lists, ${sum(({ watches }) => watches)} watches with ${sum(({ events }) => events)} events`
    return `${engine}: ${this.episodes} episodes, ${faults} faults; ${writes}; ${reads}; ${this.failed === 0 ? 'no violation' : `${this.failed} episodes with violations`}`
  }
}
