// The flags about auditing as settings.

import { resolve } from 'node:path'
import type { Identity } from '../../api/identity.js'
import type { Batching } from '../../audit/buffered.js'
import { readPolicy } from '../../audit/read-policy.js'
import type { Truncation } from '../../audit/truncated.js'
import { readConnection } from '../connection-file.js'
import { flagError } from './flag.js'
import type { FlagValues } from './flag-table.js'
import { type SettingsInput, under } from './read-settings.js'
import type { AuditSettings, DeliverySettings } from './settings.js'

const megabyte = 1 << 20
const usualMegabytes = 100

export interface ReadAudit {
  readonly audit: AuditSettings | undefined
  readonly warnings: readonly string[]
}

/** Nothing is audited without a policy and a place for events. */
export function readAudit(input: SettingsInput, identity: Identity): ReadAudit {
  const { values, files } = input
  const path = values['audit-policy-file']
  const apiVersion = `${identity.group({ stem: 'audit' })}/v1`
  for (const flag of ['audit-log-version', 'audit-webhook-version'] as const) {
    if ((values[flag] ?? apiVersion) !== apiVersion) throw flagError(flag, `events are written as ${apiVersion}; leave the flag out`)
  }
  const log = readLog(values)
  const webhook = readWebhook(input)
  const hasBackend = log !== undefined || webhook !== undefined
  if (path === undefined) return { audit: undefined, warnings: hasBackend ? ['nothing is audited without --audit-policy-file'] : [] }
  const read = under('audit-policy-file', () => readPolicy(files.get(path) ?? '', { identity, path }))
  const warnings = read.warnings.map((warning) => `--audit-policy-file: ${warning}`)
  if (!hasBackend)
    return {
      audit: undefined,
      warnings: [...warnings, '--audit-policy-file: nothing is audited without --audit-log-path or --audit-webhook-config-file'],
    }
  return { audit: { policy: read.policy, apiVersion, log, webhook }, warnings }
}

function readLog(values: FlagValues): AuditSettings['log'] {
  const path = values['audit-log-path'] ?? ''
  if (path === '') return undefined
  return {
    file: {
      path: path === '-' ? path : resolve(path),
      maxBytes: (values['audit-log-maxsize'] || usualMegabytes) * megabyte,
      maxAgeDays: values['audit-log-maxage'],
      maxBackups: values['audit-log-maxbackup'],
      compresses: values['audit-log-compress'],
    },
    format: values['audit-log-format'],
    ...readDelivery(values, 'log'),
  }
}

function readWebhook({ values, files, readText }: SettingsInput): AuditSettings['webhook'] {
  const configFile = values['audit-webhook-config-file']
  if (configFile === undefined) return undefined
  const connection = under('audit-webhook-config-file', () => readConnection(configFile, files.get(configFile) ?? '', readText))
  return { connection, initialBackoffMs: values['audit-webhook-initial-backoff'], ...readDelivery(values, 'webhook') }
}

function readDelivery(values: FlagValues, to: 'log' | 'webhook'): DeliverySettings {
  const throttle = values[`audit-${to}-batch-throttle-enable`]
    ? { perSecond: values[`audit-${to}-batch-throttle-qps`], burst: values[`audit-${to}-batch-throttle-burst`] }
    : undefined
  if (throttle?.perSecond === 0) throw flagError(`audit-${to}-batch-throttle-qps`, 'must be more than 0 to limit the number of batches')
  const batching: Batching = {
    bufferSize: values[`audit-${to}-batch-buffer-size`],
    maxBatch: values[`audit-${to}-batch-max-size`],
    maxWaitMs: values[`audit-${to}-batch-max-wait`],
    throttle,
    atOnce: to === 'log' ? 1 : webhookBatchesAtOnce,
  }
  const truncation: Truncation | undefined = values[`audit-${to}-truncate-enabled`]
    ? {
        maxEventBytes: values[`audit-${to}-truncate-max-event-size`],
        maxBatchBytes: values[`audit-${to}-truncate-max-batch-size`],
      }
    : undefined
  return { mode: values[`audit-${to}-mode`], batching, truncation }
}

/** The reference has no bound; a service that does not answer must not be given everything at once. */
const webhookBatchesAtOnce = 8
