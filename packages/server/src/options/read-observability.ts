// Settings of logging, metrics and tracing.

import type { FeatureGates } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { readYaml } from '@cluster-apiserver/api/codec/yaml/read-yaml.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import type { LoggedRequests } from '../http/diagnostics/request-log.js'
import type { AllowedValues } from '../http/metrics/prometheus-exposition.js'
import { flagError } from './flags/flag.js'
import type { FlagValues } from './flags/flag-table.js'

/** Only metrics of the previous release can be hidden. */
const previousRelease = '1.25'

/** Verbosity (-v) from which failed and slow requests are logged. */
const unusualRequestsFrom = 2
const debugFrom = 4
const allRequestsFrom = 6

export function readLogging(values: FlagValues) {
  if (values['contention-profiling'])
    throw flagError('contention-profiling', 'cannot be enabled: one thread serves requests and takes no locks; remove the flag')
  if (values['log-json-split-stream'])
    throw flagError('log-json-split-stream', 'cannot be enabled: all lines go to standard error; remove the flag')
  const verbosity = values['v']
  return {
    logLevel: verbosity >= debugFrom ? ('debug' as const) : ('info' as const),
    logFormat: values['logging-format'],
    loggedRequests: requestsLoggedAt(verbosity),
  }
}

const requestsLoggedAt = (verbosity: number): LoggedRequests =>
  verbosity >= allRequestsFrom ? 'all' : verbosity >= unusualRequestsFrom ? 'conspicuous' : 'none'

export function readMetrics(values: FlagValues) {
  const hiddenMetricsVersion = values['show-hidden-metrics-for-version'] ?? ''
  if (hiddenMetricsVersion !== '' && hiddenMetricsVersion !== previousRelease)
    throw flagError('show-hidden-metrics-for-version', `must be the previous release, ${previousRelease}`)
  return {
    countMs: values['etcd-count-metric-poll-period'],
    sizeMs: values['etcd-db-metric-poll-interval'],
    disabled: new Set(values['disabled-metrics']),
    allowedLabels: readAllowedLabels(values['allow-metric-labels']),
  }
}

/** Items of `a_total,verb=GET,LIST,b_total,code=200`: an item before one with `=` is a metric, the others are label values. */
function readAllowedLabels(items: readonly string[]): AllowedValues {
  const allowed = new Map<string, Map<string, Set<string>>>()
  let values: Set<string> | undefined
  items.forEach((item, i) => {
    const equals = item.indexOf('=')
    if (items[i + 1]?.includes('=') === true && equals < 0) return
    if (equals < 0) {
      if (values === undefined) throw formatError(item)
      values.add(item)
      return
    }
    const family = items[i - 1]
    const label = item.slice(0, equals)
    if (family === undefined || family.includes('=') || label === '') throw formatError(item)
    const labels = allowed.get(family) ?? new Map<string, Set<string>>()
    values = labels.get(label) ?? new Set()
    values.add(item.slice(equals + 1))
    labels.set(label, values)
    allowed.set(family, labels)
  })
  return allowed
}

const formatError = (item: string): Error =>
  flagError(
    'allow-metric-labels',
    `${JSON.stringify(item)}: write <metric>,<label>=<value>,<value>, such as apiserver_request_total,verb=GET,LIST`,
  )

const maxPerMillion = 1_000_000
const defaultEndpoint = 'localhost:4318'

export function parseTracingConfig(text: string, identity: Identity, gates: FeatureGates) {
  if (!gates('APIServerTracing')) throw new Error('needs --feature-gates=APIServerTracing=true')
  const config: unknown = readYaml(text).value
  if (!isRecord(config)) throw new Error('the file: must be a mapping')
  const { kind, apiVersion, endpoint = defaultEndpoint, samplingRatePerMillion = 0, ...rest } = config
  const expected = `${identity.group({ stem: 'apiserver.config' })}/v1alpha1`
  if (kind !== 'TracingConfiguration' || apiVersion !== expected) throw new Error(`it is not a TracingConfiguration of ${expected}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new Error(`${unknown}: unknown field`)
  if (typeof samplingRatePerMillion !== 'number' || !Number.isInteger(samplingRatePerMillion) || samplingRatePerMillion < 0)
    throw new Error('samplingRatePerMillion: must be a whole number from 0 on')
  if (samplingRatePerMillion > maxPerMillion) throw new Error('samplingRatePerMillion: must be one million at most')
  return { url: urlOf(endpoint), samplingRatePerMillion }
}

/** Accepts `host:port` or a URL; the default path is that of OTLP traces. */
function urlOf(endpoint: unknown): string {
  const text = typeof endpoint === 'string' ? endpoint : ''
  const full = text.includes('://') ? text : `http://${text}`
  if (text === '' || !URL.canParse(full) || !/^https?:/.test(new URL(full).protocol))
    throw new Error(`endpoint: ${JSON.stringify(endpoint)} is not an address such as localhost:4318 or https://collector.example.com:4318`)
  const url = new URL(full)
  if (url.pathname === '/') url.pathname = '/v1/traces'
  return url.href
}
