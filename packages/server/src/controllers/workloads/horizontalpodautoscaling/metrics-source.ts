// Where the autoscaler reads metrics: usage of pods, custom and external metrics. The defaults find nothing, as without a metrics server.

import type { ApiServiceSource } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ExtensionClient } from '../../aggregation/extension-client.js'

export interface ContainerUsage {
  readonly name: string
  /** Quantities by resource, such as `cpu: 100m`. */
  readonly usage: { readonly [resource: string]: string }
}

export interface PodUsage {
  readonly name: string
  /** End of the window in which the usage was measured, in milliseconds since 1970. */
  readonly atMs: number
  readonly windowMs: number
  readonly containers: readonly ContainerUsage[]
}

/** Usage of pods, as the resource metrics API serves it. */
export interface PodMetricsSource {
  /** Usage of the pods of a namespace that a label selector (canonical text) matches. Rejects if there is no source. */
  usageOf(namespace: string, selector: string): Promise<readonly PodUsage[]>
}

interface CustomMetricQuery {
  readonly namespace: string
  readonly metric: string
  /** Label selector of the metric; empty: all. */
  readonly metricSelector: string
}

/** Custom and external metrics. Values are milli-units. Rejects if there is no source. */
export interface CustomMetricsSource {
  podValues(query: CustomMetricQuery, selector: string): Promise<ReadonlyMap<string, number>>
  objectValue(
    query: CustomMetricQuery,
    object: { readonly apiVersion: string; readonly kind: string; readonly name: string },
  ): Promise<number>
  externalValues(query: CustomMetricQuery): Promise<readonly number[]>
}

/** Extension API servers, which may serve metrics. */
export interface MetricExtensions {
  readonly services: ApiServiceSource
  readonly extensionClient: ExtensionClient
}

const notServed = (what: string): Promise<never> =>
  Promise.reject(new Error(`the server could not find the requested resource (get ${what})`))

export const noPodMetrics = (identity: Identity): PodMetricsSource => ({
  usageOf: () => notServed(`pods.${identity.group({ stem: 'metrics' })}`),
})

export function noCustomMetrics(identity: Identity): CustomMetricsSource {
  const custom = (): Promise<never> =>
    Promise.reject(new Error(`no custom metrics API (${identity.group({ stem: 'custom.metrics' })}) registered`))
  return {
    podValues: custom,
    objectValue: custom,
    externalValues: ({ metric }) => notServed(`${metric}.${identity.group({ stem: 'external.metrics' })}`),
  }
}
