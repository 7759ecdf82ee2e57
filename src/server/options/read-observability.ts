// The flags about what the server tells its operator as settings: what is logged, which metrics are shown, and how.

import { flagError } from './flag.js'
import type { FlagValues } from './flag-table.js'
import type { MetricSettings, Settings } from './settings.js'

/** The release before this one: of no other could anything be hidden. */
const previousRelease = '1.25'

/** From these values of --v on. */
const conspicuousFrom = 2
const debugFrom = 4
const allRequestsFrom = 6

export function readLogging(values: FlagValues): Pick<Settings, 'logLevel' | 'logFormat' | 'loggedRequests'> {
  if (values['contention-profiling'])
    throw flagError(
      'contention-profiling',
      'there is nothing to profile: one thread answers requests and waits for no locks; leave the flag out',
    )
  if (values['log-json-split-stream']) throw flagError('log-json-split-stream', 'all lines go to standard error; leave the flag out')
  const verbosity = values['v']
  return {
    logLevel: verbosity >= debugFrom ? 'debug' : 'info',
    logFormat: values['logging-format'],
    loggedRequests: verbosity >= allRequestsFrom ? 'all' : verbosity >= conspicuousFrom ? 'conspicuous' : 'none',
  }
}

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
