// What the servers behind API services say of themselves, asked again and again in the background: resources, and OpenAPI documents of both
// versions. Nobody waits for them; what was heard last is what there is.

import type { ApiServiceSource, ApiServices, RemoteTarget, RemoteVersion } from '../../api/api-services.js'
import { type DiscoveredVersion, nothingDiscovered, RemoteDiscovery } from '../../api/discovered.js'
import { noRemoteOpenApi, type RemoteOpenApi, type RemoteSpec } from '../../api/remote-openapi.js'
import type { Logger } from '../../base/logger.js'
import { inPieces } from '../../base/pieces.js'
import { isRecord } from '../../schema/read.js'
import { newEnding } from '../kit/ending.js'
import { KeyedQueue, type Outcome } from '../kit/keyed-queue.js'
import type { ExtensionAsker } from './ask-extension.js'
import { discoveryPath } from './probe-version.js'
import { discoveryLimits, readResourceList } from './read-discovery.js'
import { readSpec, specLimits } from './read-spec.js'
import type { AggregationTallies } from './tallies.js'

export interface DocumentParts {
  readonly services: ApiServiceSource
  readonly asker: ExtensionAsker
  readonly tallies: AggregationTallies
  readonly logger: Logger
  /** How often what was heard is asked for again. */
  readonly againMs?: number
}

interface Heard {
  readonly target: RemoteTarget
  readonly discovered?: DiscoveredVersion
  readonly spec?: RemoteSpec
  /** Of the document from which the spec was read. */
  readonly tag: string
  /** Where its document of version 3 is. */
  readonly address?: string
}

const usualAgainMs = 60_000
const discoveryMs = 5000
const openApiMs = 20_000
const indexBytes = 512 << 10

export class RemoteDocuments {
  #discovery = nothingDiscovered
  #openApi = noRemoteOpenApi
  readonly #parts: DocumentParts
  readonly #heard = new Map<string, Heard>()
  /** One that answers what it serves and has no good document of its types, or the other way round, is asked for each in its own time. */
  readonly #queues: readonly KeyedQueue[]
  readonly #ending = newEnding()
  readonly #unfollow: () => void
  readonly #listeners = new Set<() => void>()

  constructor(parts: DocumentParts) {
    this.#parts = parts
    const queueOf = (work: (version: RemoteVersion) => Promise<void>, what: string): KeyedQueue =>
      new KeyedQueue({
        work: (name) => this.#ask(name, work),
        concurrency: 16,
        backOff: { firstMs: 1000, mostMs: 10 * usualAgainMs },
        onFailure: (name, err, againMs) =>
          parts.logger.warn({ apiService: name, err, againMs: Math.round(againMs) }, `cannot read ${what}`),
        onOverflow: () => undefined,
      })
    this.#queues = [
      queueOf((version) => this.#hearDiscovery(version), 'the list of resources'),
      queueOf((version) => this.#hearOpenApi(version), 'documents'),
    ]
    this.#unfollow = parts.services.onChange((current, before) => this.#follow(current, before))
    for (const { name } of parts.services.current.remotes) this.#add(name)
  }

  get discovery(): RemoteDiscovery {
    return this.#discovery
  }

  /** Tells when something else was heard; gives what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  get openApi(): RemoteOpenApi {
    return this.#openApi
  }

  async close(): Promise<void> {
    this.#unfollow()
    this.#ending.abort()
    await Promise.all(this.#queues.map((queue) => queue.close()))
  }

  #add(name: string): void {
    for (const queue of this.#queues) queue.add(name)
  }

  #follow({ all, remotes }: ApiServices, before: ApiServices): void {
    let isOther = false
    for (const [name, heard] of this.#heard) {
      const version = all.get(name)
      if (version?.remote === heard.target) {
        if (!version.isAvailable && this.#makeStale(name, heard)) isOther = true
        continue
      }
      this.#heard.delete(name)
      this.#parts.tallies.countRegeneration(name, 'delete', 0)
      isOther = true
    }
    if (isOther) this.#publish()
    for (const each of remotes) if (each.isAvailable && before.all.get(each.name) !== each) this.#add(each.name)
  }

  /** What it served when it last said is what there is, and may be wrong by now; whether that is news. */
  #makeStale(name: string, heard: Heard): boolean {
    if (heard.discovered === undefined || heard.discovered.freshness === 'Stale') return false
    this.#heard.set(name, { ...heard, discovered: { ...heard.discovered, freshness: 'Stale' } })
    return true
  }

  async #ask(name: string, work: (version: RemoteVersion) => Promise<void>): Promise<Outcome> {
    const version = this.#parts.services.current.all.get(name) as RemoteVersion | undefined
    // It is asked again when it is available.
    if (version?.remote === undefined || !version.isAvailable) return undefined
    await work(version)
    return { afterMs: this.#parts.againMs ?? usualAgainMs }
  }

  /** What is known of one; undefined where it is of no use any more what it says. */
  #heardOf({ name, remote }: RemoteVersion): Heard | undefined {
    if (this.#ending.signal.aborted || this.#parts.services.current.all.get(name)?.remote !== remote) return undefined
    return this.#heard.get(name) ?? { target: remote, tag: '' }
  }

  #hear(name: string, before: Heard, next: Heard): void {
    if (isSameHeard(before, next)) return
    this.#heard.set(name, next)
    this.#publish()
  }

  async #hearDiscovery(version: RemoteVersion): Promise<void> {
    try {
      const discovered = await this.#askDiscovery(version)
      const before = this.#heardOf(version)
      if (before !== undefined) this.#hear(version.name, before, { ...before, discovered })
    } catch (thrown) {
      const before = this.#heardOf(version)
      if (before !== undefined && this.#makeStale(version.name, before)) this.#publish()
      throw thrown
    }
  }

  async #hearOpenApi(version: RemoteVersion): Promise<void> {
    const begunMs = performance.now()
    const asked = this.#heardOf(version)
    if (asked === undefined) return
    const [spec, address] = await Promise.allSettled([this.#askSpec(version, asked), this.#askAddress(version)])
    const before = this.#heardOf(version)
    if (before === undefined) return
    const { spec: _spec, tag: _tag, address: _address, ...rest } = before
    const next: Heard = {
      ...rest,
      ...(spec.status === 'fulfilled' ? spec.value : { ...optional('spec', before.spec), tag: before.tag }),
      ...optional('address', address.status === 'fulfilled' ? address.value : before.address),
    }
    if (next.spec !== before.spec && next.spec !== undefined)
      this.#parts.tallies.countRegeneration(
        version.name,
        before.spec === undefined ? 'add' : 'update',
        (performance.now() - begunMs) / 1000,
      )
    this.#hear(version.name, before, next)
    for (const each of [spec, address]) if (each.status === 'rejected') throw each.reason
  }

  async #askDiscovery(version: RemoteVersion): Promise<DiscoveredVersion> {
    const limits = { timeoutMs: discoveryMs, mostBytes: discoveryLimits.bytes, signal: this.#ending.signal }
    const { status, body } = await this.#parts.asker.ask(version.remote, {
      path: discoveryPath(version),
      accept: 'application/json',
      ...limits,
    })
    if (status !== 200) throw new Error(`the list of resources of ${version.name} was answered with status ${status}`)
    return readResourceList(version, body.toString())
  }

  /** Undefined where it has no such document. */
  async #askSpec(version: RemoteVersion, { tag, spec }: Heard): Promise<Pick<Heard, 'spec' | 'tag'>> {
    const limits = { timeoutMs: openApiMs, mostBytes: specLimits.bytes, signal: this.#ending.signal }
    const answer = await this.#parts.asker.ask(version.remote, { path: '/openapi/v2', accept: 'application/json', tag, ...limits })
    if (answer.status === 304 && spec !== undefined) return { spec, tag }
    if (answer.status === 404 || answer.status === 406) return { tag: '' }
    if (answer.status !== 200) throw new Error(`the OpenAPI document of ${version.name} was answered with status ${answer.status}`)
    return { spec: await inPieces(readSpec(version, answer.body), this.#ending.signal), tag: answer.tag }
  }

  async #askAddress(version: RemoteVersion): Promise<string | undefined> {
    const limits = { timeoutMs: discoveryMs, mostBytes: indexBytes, signal: this.#ending.signal }
    const { status, body } = await this.#parts.asker.ask(version.remote, { path: '/openapi/v3', accept: 'application/json', ...limits })
    if (status !== 200) return undefined
    const index: unknown = JSON.parse(body.toString())
    const name = documentName(version)
    const paths = isRecord(index) ? index['paths'] : undefined
    const entry = isRecord(paths) ? paths[name] : undefined
    const address = isRecord(entry) ? entry['serverRelativeURL'] : undefined
    const own = `/openapi/v3/${name}`
    return typeof address === 'string' && (address === own || address.startsWith(`${own}?hash=`)) ? address : undefined
  }

  #publish(): void {
    const all = [...this.#heard]
    const versions = this.#parts.services.current.all
    this.#discovery = new RemoteDiscovery(new Map(all.flatMap(([name, { discovered }]) => (discovered ? [[name, discovered]] : []))))
    const addresses = new Map<string, string>()
    for (const [name, { address }] of all) {
      const version = versions.get(name)
      if (version !== undefined && address !== undefined) addresses.set(documentName(version), address)
    }
    const specs = all.flatMap(([, { spec }]) => spec ?? [])
    // Documents are built anew for another value.
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

export const documentName = ({ group, version }: Pick<RemoteVersion, 'group' | 'version'>): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

const optional = <K extends string, V>(key: K, value: V | undefined): { readonly [name in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { readonly [name in K]?: V }

const isSameHeard = (a: Heard, b: Heard): boolean =>
  a.spec === b.spec && a.tag === b.tag && a.address === b.address && JSON.stringify(a.discovered) === JSON.stringify(b.discovered)
