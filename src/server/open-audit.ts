// Auditing as the settings want it: the policy, and a chain of parts for each place where events are kept.

import { Audit, type AuditBackend } from '../audit/audit.js'
import { AuditTallies, type Backend } from '../audit/backend.js'
import { Buffered } from '../audit/buffered.js'
import { LinePipe } from '../audit/line-pipe.js'
import { type LineTarget, LogBackend } from '../audit/log-backend.js'
import { LogFile } from '../audit/log-file.js'
import { compilePolicy } from '../audit/policy.js'
import { Truncated } from '../audit/truncated.js'
import { WebhookBackend } from '../audit/webhook-backend.js'
import type { Logger } from '../base/logger.js'
import { JsonEndpoint } from '../net/json-endpoint.js'
import type { Opening } from './opening.js'
import type { AuditSettings, DeliverySettings } from './options/settings.js'
import type { Outbound } from './outbound.js'
import { StartError } from './start-failure.js'

/** How long the service may take for a list of events. */
const webhookMs = 30_000
/** Of lines on standard output. */
const standardOutput = { descriptor: 1, mostWaitingBytes: 64 << 20, patienceMs: 5_000 }

/** Undefined: nothing is audited. */
export function openAudit({ settings: { audit }, logger, closing }: Opening, outbound: Outbound): Audit | undefined {
  if (audit === undefined) return undefined
  const { policy, apiVersion, log, webhook } = audit
  const tallies = new AuditTallies()
  const backends: AuditBackend[] = []
  if (log !== undefined) {
    const isStrict = log.mode === 'blocking-strict'
    const backend = new LogBackend({ target: openFile(log, logger), format: log.format, tallies, logger, isStrict })
    backends.push(delivering(backend, log, tallies))
  }
  if (webhook !== undefined) {
    const { connection, initialBackoffMs } = webhook
    const endpoint = new JsonEndpoint({ ...connection, tally: outbound.webhooks, dial: outbound.controlPlane }, { timeoutMs: webhookMs })
    backends.push(delivering(new WebhookBackend({ endpoint, apiVersion, initialBackoffMs, tallies, logger }), webhook, tallies))
  }
  const opened = new Audit({ policy: compilePolicy(policy), backends, tallies, apiVersion })
  // Closed after everything that could still tell something.
  closing.add(() => opened.close())
  return opened
}

function openFile({ file }: NonNullable<AuditSettings['log']>, logger: Logger): LineTarget {
  try {
    return file.path === '-' ? new LinePipe(standardOutput) : new LogFile(file, { logger })
  } catch (thrown) {
    throw new StartError(`--audit-log-path: cannot write to ${file.path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}

function delivering(backend: Backend, { mode, batching, truncation }: DeliverySettings, tallies: AuditTallies): AuditBackend {
  const fitting = truncation === undefined ? backend : new Truncated(backend, truncation, tallies)
  return {
    backend: mode === 'batch' ? new Buffered({ backend: fitting, batching, tallies }) : fitting,
    isStrict: mode === 'blocking-strict',
    isAwaited: mode !== 'batch',
  }
}
