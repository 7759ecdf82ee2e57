// The flags about what the server tells its operator as settings: which metrics are shown, and how.

import { flagError } from './flag.js'
import type { FlagValues } from './flag-table.js'
import type { MetricSettings } from './settings.js'

/** The release before this one: of no other could anything be hidden. */
const previousRelease = '1.25'

export function readMetrics(values: FlagValues): MetricSettings {
  const shown = values['show-hidden-metrics-for-version'] ?? ''
  if (shown !== '' && shown !== previousRelease)
    throw flagError('show-hidden-metrics-for-version', `only the release before this one can be named: ${previousRelease}`)
  return {
    countMs: values['etcd-count-metric-poll-period'],
    sizeMs: values['etcd-db-metric-poll-interval'],
    disabled: new Set(values['disabled-metrics']),
    allowedLabels: readAllowedLabels(values['allow-metric-labels']),
  }
}

/**
 * From words between commas, such as `apiserver_request_total,verb=GET`, `LIST`, `other_total,code=200`: a word before one with `=` is the name of
 * a family, and all words up to the next name are values.
 */
function readAllowedLabels(words: readonly string[]): MetricSettings['allowedLabels'] {
  const allowed = new Map<string, Map<string, Set<string>>>()
  let values: Set<string> | undefined
  words.forEach((word, i) => {
    const at = word.indexOf('=')
    if (words[i + 1]?.includes('=') === true && at < 0) return
    if (at < 0) {
      if (values === undefined) throw wrongForm(word)
      values.add(word)
      return
    }
    const family = words[i - 1]
    const label = word.slice(0, at)
    if (family === undefined || family.includes('=') || label === '') throw wrongForm(word)
    const labels = allowed.get(family) ?? new Map<string, Set<string>>()
    values = labels.get(label) ?? new Set()
    values.add(word.slice(at + 1))
    labels.set(label, values)
    allowed.set(family, labels)
  })
  return allowed
}

const wrongForm = (word: string): Error =>
  flagError(
    'allow-metric-labels',
    `${JSON.stringify(word)}: write <metric>,<label>=<value>,<value>, such as apiserver_request_total,verb=GET,LIST`,
  )
