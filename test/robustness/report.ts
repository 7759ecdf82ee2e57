// The result of an episode in words.

import type { EpisodeResult } from './episode.js'

export function summaryOf({ writes, reads, lists, watches, events, faults, troubles, holes, services }: EpisodeResult): string {
  const total = (counts: ReadonlyMap<string, number>): string =>
    [...counts].map(([what, count]) => `${count} × ${what}`).join(', ') || 'none'
  return [
    `  writes: ${writes.ok} acknowledged, ${writes.refused} refused, ${writes.unknown} in doubt; ${reads} reads, ${lists} lists; ${watches} watches with ${events} events; ${services} services`,
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
