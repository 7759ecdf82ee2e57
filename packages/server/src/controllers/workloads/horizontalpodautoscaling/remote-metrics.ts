// Metrics of extension API servers: the groups metrics, custom.metrics and external.metrics of the identity.

import type { RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { parseDurationMs } from '@cluster-apiserver/api/base/duration.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { parseQuantity, quantityMilliValue } from '@cluster-apiserver/api/schema/quantity.js'
import type { ExtensionClient } from '../../aggregation/extension-client.js'
import { resourceOfKind } from '../../framework/find-resource.js'
import type { WorkloadParts } from '../kit/workload-parts.js'
import type { CustomMetricsSource, PodMetricsSource } from './metrics-source.js'
import { noCustomMetrics, noPodMetrics } from './metrics-source.js'

const timeoutMs = 10_000
const maxBytes = 16 << 20

interface Item {
  readonly metadata?: { readonly name?: string }
  readonly timestamp?: string
  readonly window?: string
  readonly containers?: readonly { readonly name?: string; readonly usage?: { readonly [resource: string]: string } }[]
  readonly describedObject?: { readonly name?: string }
  readonly value?: string
}

const milliOf = ({ value = '0' }: Item): number => Number(quantityMilliValue(parseQuantity(value)))

/** Falls back to the sources of the parts for a group that no extension API server serves. */
export function metricSources(parts: WorkloadParts): {
  readonly podMetrics: PodMetricsSource
  readonly customMetrics: CustomMetricsSource
} {
  const { engine, extensions, podMetrics = noPodMetrics(engine.identity), customMetrics = noCustomMetrics(engine.identity) } = parts
  if (extensions === undefined) return { podMetrics, customMetrics }
  const remoteOf = (stem: string): RemoteVersion | undefined => {
    const group = engine.identity.group({ stem })
    return [...extensions.services.current.remotes].find((version) => version.group === group)
  }
  const itemsOf = (version: RemoteVersion, path: string, query: { readonly [name: string]: string }): Promise<readonly Item[]> =>
    getItems(extensions.extensionClient, version, { path, query })
  const objectPath = ({
    apiVersion,
    kind,
    name,
  }: {
    readonly apiVersion: string
    readonly kind: string
    readonly name: string
  }): string => {
    const { resource = kind.toLowerCase(), group = '' } = resourceOfKind(parts.catalogs.current, apiVersion, kind)?.subject ?? {}
    return `${group === '' ? resource : `${resource}.${group}`}/${name}`
  }
  return {
    podMetrics: {
      usageOf: async (namespace, selector) => {
        const version = remoteOf('metrics')
        if (version === undefined) return podMetrics.usageOf(namespace, selector)
        const items = await itemsOf(version, `namespaces/${namespace}/pods`, { labelSelector: selector })
        return items.map(({ metadata, timestamp = '', window = '', containers = [] }) => ({
          name: metadata?.name ?? '',
          atMs: Date.parse(timestamp) || 0,
          windowMs: parseDurationMs(window) ?? 0,
          containers: containers.map(({ name = '', usage = {} }) => ({ name, usage })),
        }))
      },
    },
    customMetrics: {
      podValues: async (query, selector) => {
        const version = remoteOf('custom.metrics')
        if (version === undefined) return customMetrics.podValues(query, selector)
        const path = `namespaces/${query.namespace}/pods/*/${query.metric}`
        const items = await itemsOf(version, path, { labelSelector: selector, metricLabelSelector: query.metricSelector })
        if (items.length === 0) throw new Error('no metrics returned from custom metrics API')
        return new Map(items.map((item) => [item.describedObject?.name ?? '', milliOf(item)]))
      },
      objectValue: async (query, object) => {
        const version = remoteOf('custom.metrics')
        if (version === undefined) return customMetrics.objectValue(query, object)
        const isNamespace = object.kind === 'Namespace' && object.apiVersion === 'v1'
        const path = isNamespace
          ? `namespaces/${query.namespace}/metrics/${query.metric}`
          : `namespaces/${query.namespace}/${objectPath(object)}/${query.metric}`
        const [item] = await itemsOf(version, path, { metricLabelSelector: query.metricSelector })
        if (item === undefined) throw new Error('no metrics returned from custom metrics API')
        return milliOf(item)
      },
      externalValues: async (query) => {
        const version = remoteOf('external.metrics')
        if (version === undefined) return customMetrics.externalValues(query)
        const items = await itemsOf(version, `namespaces/${query.namespace}/${query.metric}`, { labelSelector: query.metricSelector })
        if (items.length === 0) throw new Error('no metrics returned from external metrics API')
        return items.map(milliOf)
      },
    },
  }
}

interface ListRequest {
  readonly path: string
  /** Empty values are left out. */
  readonly query: { readonly [name: string]: string }
}

async function getItems(client: ExtensionClient, version: RemoteVersion, { path, query }: ListRequest): Promise<readonly Item[]> {
  const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  const full = `/apis/${version.group}/${version.version}/${path}${text === '' ? '' : `?${text}`}`
  const signal = AbortSignal.timeout(timeoutMs)
  const { status, body } = await client.request(version.remote, { path: full, accept: 'application/json', timeoutMs, maxBytes, signal })
  const parsed: unknown = JSON.parse(body.toString())
  if (!isRecord(parsed)) throw new Error(`${full} returned no object`)
  if (status < 200 || status > 299)
    throw new Error(typeof parsed['message'] === 'string' ? parsed['message'] : `${full} returned status ${status}`)
  return Array.isArray(parsed['items']) ? (parsed['items'] as readonly Item[]) : []
}
