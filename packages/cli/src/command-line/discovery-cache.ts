// Discovery cache: served resources in a file for ten minutes, so that most commands send no discovery request.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Identity, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { Client } from '@cluster-apiserver/client/client.js'
import { type Discovered, findByName, identityIn, type ServedResource } from '@cluster-apiserver/client/discovery.js'
import { splitApiVersion } from '@cluster-apiserver/client/requests/resource-ref.js'
import { UsageError } from './flags.js'

interface CacheLocation {
  readonly cacheKey: string
  readonly folder: string | undefined
}

const maxAgeMs = 10 * 60_000
const format = 1

export class DiscoveryCache {
  private readonly client: Client
  private readonly file: string
  private loaded: { readonly discovered: Discovered; readonly isFresh: boolean } | undefined
  private fetching: Promise<NonNullable<DiscoveryCache['loaded']>> | undefined

  constructor(client: Client, { cacheKey, folder }: CacheLocation) {
    this.client = client
    const fileName = createHash('sha256').update(cacheKey).digest('hex').slice(0, 32)
    this.file = join(folder ?? join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'clusterctl'), `${fileName}.json`)
  }

  async all(): Promise<Discovered> {
    this.loaded ??= this.read()
    return (this.loaded ?? (await this.fetchOnce())).discovered
  }

  async refresh(): Promise<Discovered> {
    return (await this.fetchOnce()).discovered
  }

  async find(name: string): Promise<ServedResource> {
    const found = await this.search(({ resources }) => findByName(resources, name))
    if (found === undefined) throw new UsageError(`the server doesn't have a resource type "${name}"`)
    return found
  }

  async findAll(name: string): Promise<readonly ServedResource[]> {
    const { resources } = await this.all()
    if (findByName(resources, name) === undefined) {
      const inCategory = resources.filter(({ categories, isPreferred }) => isPreferred && categories.includes(name))
      if (inCategory.length > 0) return inCategory
    }
    return [await this.find(name)]
  }

  async ofKind(apiVersion: string, kind: string): Promise<ServedResource> {
    const { group, version } = splitApiVersion(apiVersion)
    const isMatch = (resource: ServedResource): boolean =>
      resource.group === group && resource.version === version && resource.kind === kind
    const found = await this.search(({ resources }) => resources.find(isMatch))
    if (found !== undefined) return found
    throw new UsageError(`no matches for kind "${kind}" in version "${apiVersion}"; create its CustomResourceDefinition first`)
  }

  async identity(): Promise<Identity> {
    return identityOf(identityIn(await this.all()))
  }

  private async search<T>(find: (discovered: Discovered) => T | undefined): Promise<T | undefined> {
    const found = find(await this.all())
    return found !== undefined || this.loaded?.isFresh === true ? found : find(await this.refresh())
  }

  private fetchOnce(): Promise<NonNullable<DiscoveryCache['loaded']>> {
    this.fetching ??= this.fetch().finally(() => {
      this.fetching = undefined
    })
    return this.fetching
  }

  private async fetch(): Promise<NonNullable<DiscoveryCache['loaded']>> {
    const discovered = await this.client.served.all({ refresh: true })
    this.loaded = { discovered, isFresh: true }
    this.write(discovered)
    return this.loaded
  }

  private read(): DiscoveryCache['loaded'] {
    try {
      const cached = JSON.parse(readFileSync(this.file, 'utf8')) as {
        readonly format: number
        readonly atMs: number
        readonly discovered: Discovered
      }
      if (cached.format !== format || Math.abs(Date.now() - cached.atMs) > maxAgeMs) return undefined
      return { discovered: cached.discovered, isFresh: false }
    } catch {
      // A missing or invalid file means a discovery request.
      return undefined
    }
  }

  /** Ignores write errors: the next command requests discovery again. */
  private write(discovered: Discovered): void {
    if (discovered.failures.length > 0) return
    try {
      mkdirSync(join(this.file, '..'), { recursive: true, mode: 0o700 })
      const temporaryFile = `${this.file}.${process.pid}`
      writeFileSync(temporaryFile, JSON.stringify({ format, atMs: Date.now(), discovered }), { mode: 0o600 })
      renameSync(temporaryFile, this.file)
    } catch {
      return
    }
  }
}
