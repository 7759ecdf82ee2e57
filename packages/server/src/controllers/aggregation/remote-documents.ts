// Discovery, OpenAPI v2 documents and OpenAPI v3 URLs of extension API servers, polled in the background; readers get cached values.

import type { ApiServiceSource, ApiServices, RemoteTarget, RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import { type DiscoveredVersion, noRemoteDiscovery, RemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import { noRemoteOpenApi, type RemoteOpenApi, type RemoteSpec } from '@cluster-apiserver/api/api/catalog/remote-openapi.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'
import { newAbortController } from '../framework/timers.js'
import { type Outcome, WorkQueue } from '../framework/work-queue.js'
import type { AggregationCounters } from './aggregation-metrics.js'
import type { ExtensionClient } from './extension-client.js'
import { discoveryPath } from './probe-api-service.js'
import { discoveryLimits, readResourceList } from './read-remote-discovery.js'
import { readSpec, specLimits } from './read-remote-openapi.js'

interface DocumentParts {
  readonly services: ApiServiceSource
  readonly extensionClient: ExtensionClient
  readonly counters: AggregationCounters
  readonly logger: Logger
  readonly pollMs?: number
}

interface CachedDocuments {
  readonly target: RemoteTarget
  readonly discovered?: DiscoveredVersion
  readonly spec?: RemoteSpec
  readonly etag: string
  /** URL of the OpenAPI v3 document, with its hash. */
  readonly address?: string
}

const defaultPollMs = 60_000
const discoveryTimeoutMs = 5000
const openApiTimeoutMs = 20_000
const maxIndexBytes = 512 << 10

export class RemoteDocuments {
  #discovery = noRemoteDiscovery
  #openApi = noRemoteOpenApi
  readonly #parts: DocumentParts
  readonly #cache = new Map<string, CachedDocuments>()
  /** One queue per kind of document, so that failures of one do not delay the other. */
  readonly #queues: readonly WorkQueue[]
  readonly #stop = newAbortController()
  readonly #unsubscribe: () => void
  readonly #listeners = new Set<() => void>()

  constructor(parts: DocumentParts) {
    this.#parts = parts
    const queueOf = (work: (version: RemoteVersion) => Promise<void>, documents: string): WorkQueue =>
      new WorkQueue({
        work: (name) => this.#poll(name, work),
        concurrency: 16,
        backOff: { firstMs: 1000, maxMs: 10 * defaultPollMs },
        onFailure: (name, error, retryMs) =>
          parts.logger.warn(
            { apiService: name, error, retryMs: Math.round(retryMs) },
            `cannot read ${documents} of the API service; retrying`,
          ),
        onOverflow: () => undefined,
      })
    this.#queues = [
      queueOf((version) => this.#pollDiscovery(version), 'the discovery document'),
      queueOf((version) => this.#pollOpenApi(version), 'the OpenAPI documents'),
    ]
    this.#unsubscribe = parts.services.onChange((current, before) => this.#onServicesChange(current, before))
    for (const { name } of parts.services.current.remotes) this.#add(name)
  }

  get discovery(): RemoteDiscovery {
    return this.#discovery
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get openApi(): RemoteOpenApi {
    return this.#openApi
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    this.#stop.abort()
    await Promise.all(this.#queues.map((queue) => queue.close()))
  }

  #add(name: string): void {
    for (const queue of this.#queues) queue.add(name)
  }

  #onServicesChange({ all, remotes }: ApiServices, before: ApiServices): void {
    let hasChanged = false
    for (const [name, cached] of this.#cache) {
      const version = all.get(name)
      if (version?.remote === cached.target) {
        if (!version.isAvailable && this.#makeStale(name, cached)) hasChanged = true
        continue
      }
      this.#cache.delete(name)
      this.#parts.counters.countRegeneration(name, 'delete', 0)
      hasChanged = true
    }
    if (hasChanged) this.#publish()
    for (const each of remotes) if (each.isAvailable && before.all.get(each.name) !== each) this.#add(each.name)
  }

  /** Returns true if the cached discovery was not stale before. */
  #makeStale(name: string, cached: CachedDocuments): boolean {
    if (cached.discovered === undefined || cached.discovered.freshness === 'Stale') return false
    this.#cache.set(name, { ...cached, discovered: { ...cached.discovered, freshness: 'Stale' } })
    return true
  }

  async #poll(name: string, work: (version: RemoteVersion) => Promise<void>): Promise<Outcome> {
    const version = this.#parts.services.current.all.get(name) as RemoteVersion | undefined
    if (version?.remote === undefined || !version.isAvailable) return undefined
    await work(version)
    return { afterMs: this.#parts.pollMs ?? defaultPollMs }
  }

  #cacheOf({ name, remote }: RemoteVersion): CachedDocuments | undefined {
    if (this.#stop.signal.aborted || this.#parts.services.current.all.get(name)?.remote !== remote) return undefined
    return this.#cache.get(name) ?? { target: remote, etag: '' }
  }

  #replace(name: string, before: CachedDocuments, next: CachedDocuments): void {
    if (isSameCache(before, next)) return
    this.#cache.set(name, next)
    this.#publish()
  }

  async #pollDiscovery(version: RemoteVersion): Promise<void> {
    try {
      const discovered = await this.#fetchDiscovery(version)
      const before = this.#cacheOf(version)
      if (before !== undefined) this.#replace(version.name, before, { ...before, discovered })
    } catch (thrown) {
      const before = this.#cacheOf(version)
      if (before !== undefined && this.#makeStale(version.name, before)) this.#publish()
      throw thrown
    }
  }

  async #pollOpenApi(version: RemoteVersion): Promise<void> {
    const startedMs = performance.now()
    const known = this.#cacheOf(version)
    if (known === undefined) return
    const [spec, address] = await Promise.allSettled([this.#fetchSpec(version, known), this.#fetchAddress(version)])
    const before = this.#cacheOf(version)
    if (before === undefined) return
    const { spec: _spec, etag: _etag, address: _address, ...rest } = before
    const next: CachedDocuments = {
      ...rest,
      ...(spec.status === 'fulfilled' ? spec.value : { ...optional('spec', before.spec), etag: before.etag }),
      ...optional('address', address.status === 'fulfilled' ? address.value : before.address),
    }
    if (next.spec !== before.spec && next.spec !== undefined)
      this.#parts.counters.countRegeneration(
        version.name,
        before.spec === undefined ? 'add' : 'update',
        (performance.now() - startedMs) / 1000,
      )
    this.#replace(version.name, before, next)
    for (const each of [spec, address]) if (each.status === 'rejected') throw each.reason
  }

  async #fetchDiscovery(version: RemoteVersion): Promise<DiscoveredVersion> {
    const limits = { timeoutMs: discoveryTimeoutMs, maxBytes: discoveryLimits.bytes, signal: this.#stop.signal }
    const { status, body } = await this.#parts.extensionClient.request(version.remote, {
      path: discoveryPath(version),
      accept: 'application/json',
      ...limits,
    })
    if (status !== 200) throw new Error(`GET ${discoveryPath(version)} returned status ${status}`)
    return readResourceList(version, body.toString())
  }

  async #fetchSpec(version: RemoteVersion, { etag, spec }: CachedDocuments): Promise<Pick<CachedDocuments, 'spec' | 'etag'>> {
    const limits = { timeoutMs: openApiTimeoutMs, maxBytes: specLimits.bytes, signal: this.#stop.signal }
    const response = await this.#parts.extensionClient.request(version.remote, {
      path: '/openapi/v2',
      accept: 'application/json',
      etag,
      ...limits,
    })
    if (response.status === 304 && spec !== undefined) return { spec, etag }
    if (response.status === 404 || response.status === 406) return { etag: '' }
    if (response.status !== 200) throw new Error(`GET /openapi/v2 returned status ${response.status}`)
    return { spec: readSpec(version, response.body), etag: response.tag }
  }

  async #fetchAddress(version: RemoteVersion): Promise<string | undefined> {
    const limits = { timeoutMs: discoveryTimeoutMs, maxBytes: maxIndexBytes, signal: this.#stop.signal }
    const { status, body } = await this.#parts.extensionClient.request(version.remote, {
      path: '/openapi/v3',
      accept: 'application/json',
      ...limits,
    })
    if (status !== 200) return undefined
    const index: unknown = JSON.parse(body.toString())
    const name = documentName(version)
    const paths = isRecord(index) ? index['paths'] : undefined
    const entry = isRecord(paths) ? paths[name] : undefined
    const address = isRecord(entry) ? entry['serverRelativeURL'] : undefined
    const expectedUrl = `/openapi/v3/${name}`
    return typeof address === 'string' && (address === expectedUrl || address.startsWith(`${expectedUrl}?hash=`)) ? address : undefined
  }

  #publish(): void {
    const all = [...this.#cache]
    const versions = this.#parts.services.current.all
    this.#discovery = new RemoteDiscovery(new Map(all.flatMap(([name, { discovered }]) => (discovered ? [[name, discovered]] : []))))
    const addresses = new Map<string, string>()
    for (const [name, { address }] of all) {
      const version = versions.get(name)
      if (version !== undefined && address !== undefined) addresses.set(documentName(version), address)
    }
    const specs = all.flatMap(([, { spec }]) => spec ?? [])
    const before = this.#openApi
    const isSame =
      specs.length === before.specs.length &&
      specs.every((spec, i) => spec === before.specs[i]) &&
      addresses.size === before.addresses.size &&
      [...addresses].every(([name, address]) => before.addresses.get(name) === address)
    if (!isSame) this.#openApi = { specs, addresses }
    for (const listener of [...this.#listeners]) listener()
  }
}

const documentName = ({ group, version }: Pick<RemoteVersion, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

const optional = <K extends string, V>(key: K, value: V | undefined): { readonly [name in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [name in K]?: V }

const isSameCache = (a: CachedDocuments, b: CachedDocuments): boolean =>
  a.spec === b.spec && a.etag === b.etag && a.address === b.address && JSON.stringify(a.discovered) === JSON.stringify(b.discovered)
