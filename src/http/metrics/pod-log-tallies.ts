// How logs of pods were asked for, and how often an agent's certificate was no good.

import type { Identity } from '../../api/identity.js'
import type { LogTallies } from '../serve-connection.js'
import type { Family } from './exposition.js'
import type { MetricSource } from './server-metrics.js'

export class PodLogTallies implements LogTallies {
  checked = 0
  unchecked = 0
  tlsFailures = 0

  count(isChecked: boolean): void {
    if (isChecked) this.checked++
    else this.unchecked++
  }

  countTlsFailure(): void {
    this.tlsFailures++
  }
}

export function podLogFamilies(tallies: PodLogTallies, identity: Identity): MetricSource {
  const prefix = `${identity.prefixed('apiserver').replaceAll('-', '_')}_pod_logs_pods_logs`
  return (): readonly Family[] => [
    {
      name: `${prefix}_backend_tls_failure_total`,
      type: 'counter',
      help: 'Requests for logs that failed because of the certificate of a node agent.',
      labels: [],
      rows: [{ labels: [], value: tallies.tlsFailures }],
    },
    {
      name: `${prefix}_insecure_backend_total`,
      type: 'counter',
      help: 'Requests for logs, by whether the certificate of the node agent was to be checked.',
      labels: ['usage'],
      rows: [
        { labels: ['enforce_tls'], value: tallies.checked },
        { labels: ['skip_tls_allowed'], value: tallies.unchecked },
      ].filter(({ value }) => value > 0),
    },
  ]
}
