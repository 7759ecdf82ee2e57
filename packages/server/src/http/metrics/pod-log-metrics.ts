// Metrics of pod log requests: whether the kubelet's certificate is verified, and how often that failed.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { LogCounters } from '../proxy/backends.js'
import type { Family } from './prometheus-exposition.js'
import type { MetricSource } from './request-metrics.js'

export class PodLogCounters implements LogCounters {
  verified = 0
  unverified = 0
  tlsFailures = 0

  count(isVerified: boolean): void {
    if (isVerified) this.verified++
    else this.unverified++
  }

  countTlsFailure(): void {
    this.tlsFailures++
  }
}

export function podLogFamilies(counters: PodLogCounters, identity: Identity): MetricSource {
  const prefix = `${identity.prefixed('apiserver').replaceAll('-', '_')}_pod_logs_pods_logs`
  return (): readonly Family[] => [
    {
      name: `${prefix}_backend_tls_failure_total`,
      type: 'counter',
      help: 'Pod log requests that failed because of the certificate of a kubelet.',
      labels: [],
      rows: [{ labels: [], value: counters.tlsFailures }],
    },
    {
      name: `${prefix}_insecure_backend_total`,
      type: 'counter',
      help: 'Pod log requests, by whether the certificate of the kubelet is verified.',
      labels: ['usage'],
      rows: [
        { labels: ['enforce_tls'], value: counters.verified },
        { labels: ['skip_tls_allowed'], value: counters.unverified },
      ].filter(({ value }) => value > 0),
    },
  ]
}
