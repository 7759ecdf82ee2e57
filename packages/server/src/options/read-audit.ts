// Settings of auditing.

import { resolve } from 'node:path'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { BatchOptions } from '../audit/buffered-backend.js'
import { readPolicy } from '../audit/read-audit-policy.js'
import type { Truncation } from '../audit/truncating-backend.js'
import { flagError } from './flags/flag.js'
import type { FlagValues } from './flags/flag-table.js'
import { readEndpoint } from './read-authentication.js'
import { prefixErrors, type SettingsInput } from './settings-input.js'

const mebibyte = 1 << 20
const defaultLogMebibytes = 100

/** Auditing needs a policy and a backend; if only one is given, nothing is audited and a warning says so. */
export function readAudit(input: SettingsInput, identity: Identity) {
  const { values, files } = input
  const path = values['audit-policy-file']
  const apiVersion = `${identity.group({ stem: 'audit' })}/v1`
  for (const flag of ['audit-log-version', 'audit-webhook-version'] as const) {
    if ((values[flag] ?? apiVersion) !== apiVersion) throw flagError(flag, `events have the version ${apiVersion}; remove the flag`)
  }
  const log = readLog(values)
  const webhook = readWebhook(input)
  const hasBackend = log !== undefined || webhook !== undefined
  if (path === undefined) return { audit: undefined, warnings: hasBackend ? ['nothing is audited: --audit-policy-file is missing'] : [] }
  const parsed = prefixErrors('audit-policy-file', () => readPolicy(files.get(path) ?? '', { identity, path }))
  const warnings = parsed.warnings.map((warning) => `--audit-policy-file: ${warning}`)
  if (!hasBackend)
    return {
      audit: undefined,
      warnings: [...warnings, '--audit-policy-file: nothing is audited: --audit-log-path or --audit-webhook-config-file is missing'],
    }
  return { audit: { policy: parsed.policy, apiVersion, log, webhook }, warnings }
}

function readLog(values: FlagValues) {
  const path = values['audit-log-path'] ?? ''
  if (path === '') return undefined
  return {
    file: {
      path: path === '-' ? path : resolve(path),
      maxBytes: (values['audit-log-maxsize'] || defaultLogMebibytes) * mebibyte,
      maxAgeDays: values['audit-log-maxage'],
      maxBackups: values['audit-log-maxbackup'],
      shouldCompress: values['audit-log-compress'],
    },
    format: values['audit-log-format'],
    ...readDelivery(values, 'log'),
  }
}

function readWebhook(input: SettingsInput) {
  const { values } = input
  const connection = readEndpoint(input, 'audit-webhook-config-file')
  return connection && { connection, initialBackoffMs: values['audit-webhook-initial-backoff'], ...readDelivery(values, 'webhook') }
}

function readDelivery(values: FlagValues, backend: 'log' | 'webhook') {
  const throttle = values[`audit-${backend}-batch-throttle-enable`]
    ? { perSecond: values[`audit-${backend}-batch-throttle-qps`], burst: values[`audit-${backend}-batch-throttle-burst`] }
    : undefined
  if (throttle?.perSecond === 0) throw flagError(`audit-${backend}-batch-throttle-qps`, 'must be greater than 0')
  const batching: BatchOptions = {
    bufferSize: values[`audit-${backend}-batch-buffer-size`],
    maxBatch: values[`audit-${backend}-batch-max-size`],
    maxWaitMs: values[`audit-${backend}-batch-max-wait`],
    throttle,
    maxConcurrentBatches: backend === 'log' ? 1 : maxConcurrentBatches,
  }
  const truncation: Truncation | undefined = values[`audit-${backend}-truncate-enabled`]
    ? {
        maxEventBytes: values[`audit-${backend}-truncate-max-event-size`],
        maxBatchBytes: values[`audit-${backend}-truncate-max-batch-size`],
      }
    : undefined
  return { mode: values[`audit-${backend}-mode`], batching, truncation }
}

/** Limits concurrent batches to a webhook that does not respond; kube-apiserver has no limit. */
const maxConcurrentBatches = 8
