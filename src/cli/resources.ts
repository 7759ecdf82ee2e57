// What the server serves, as people call it. Asked for once and kept on disk for some minutes: most commands then need one request.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Identity, identityNames, identityOf } from '../api/identity.js'
import type { Client } from '../client/client.js'
import { type Discovered, findByWords, type ServedResource } from '../client/discovery.js'
import { splitApiVersion } from '../client/resource-ref.js'
import { UsageError } from './flags.js'

export interface CachePlace {
  /** What tells the server from others. */
  readonly mark: string
  readonly folder: string | undefined
}

const keptMs = 10 * 60_000
/** Of the file; files of another one are passed over. */
const format = 1

export class Resources {
  private readonly client: Client
  private readonly file: string
  private known: { readonly discovered: Discovered; readonly isFresh: boolean } | undefined
  private asking: Promise<NonNullable<Resources['known']>> | undefined

  constructor(client: Client, { mark, folder }: CachePlace) {
    this.client = client
    const name = createHash('sha256').update(mark).digest('hex').slice(0, 32)
    this.file = join(folder ?? join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'clusterctl'), `${name}.json`)
  }

  async all(): Promise<Discovered> {
    this.known ??= this.read()
    return (this.known ?? (await this.ask())).discovered
  }

  /** As it is now. */
  async refreshed(): Promise<Discovered> {
    return (await this.ask()).discovered
  }

  /** What is called so: a plural, singular, short name or kind, with version and group where that is not enough. */
  async find(words: string): Promise<ServedResource> {
    const found = await this.search(({ resources }) => findByWords(resources, words))
    if (found === undefined) throw new UsageError(`the server doesn't have a resource type "${words}"`)
    return found
  }

  /** The same, or all of a category such as `all`. */
  async findAll(words: string): Promise<readonly ServedResource[]> {
    const { resources } = await this.all()
    if (findByWords(resources, words) === undefined) {
      const inCategory = resources.filter(({ categories, isPreferred }) => isPreferred && categories.includes(words))
      if (inCategory.length > 0) return inCategory
    }
    return [await this.find(words)]
  }

  async ofKind(apiVersion: string, kind: string): Promise<ServedResource> {
    const { group, version } = splitApiVersion(apiVersion)
    const isIt = (one: ServedResource): boolean => one.group === group && one.version === version && one.kind === kind
    const found = await this.search(({ resources }) => resources.find(isIt))
    if (found !== undefined) return found
    throw new UsageError(`no matches for kind "${kind}" in version "${apiVersion}"; a definition of it must be there first`)
  }

  /** Which vocabulary the server speaks. */
  async identity(): Promise<Identity> {
    const { apiVersions } = await this.all()
    const isSpoken = (identity: Identity): boolean =>
      apiVersions.some((apiVersion) => splitApiVersion(apiVersion).group.endsWith(`.${identity.groupSuffix}`))
    return identityNames.map(identityOf).find(isSpoken) ?? identityOf('cluster')
  }

  /** What is not known may have come meanwhile. */
  private async search<T>(find: (discovered: Discovered) => T | undefined): Promise<T | undefined> {
    const found = find(await this.all())
    return found !== undefined || this.known?.isFresh === true ? found : find(await this.refreshed())
  }

  /** Once, however many want to know. */
  private ask(): Promise<NonNullable<Resources['known']>> {
    this.asking ??= this.askNow().finally(() => {
      this.asking = undefined
    })
    return this.asking
  }

  private async askNow(): Promise<NonNullable<Resources['known']>> {
    const discovered = await this.client.served.all({ refresh: true })
    this.known = { discovered, isFresh: true }
    this.write(discovered)
    return this.known
  }

  private read(): Resources['known'] {
    try {
      const kept = JSON.parse(readFileSync(this.file, 'utf8')) as {
        readonly format: number
        readonly atMs: number
        readonly discovered: Discovered
      }
      if (kept.format !== format || Math.abs(Date.now() - kept.atMs) > keptMs) return undefined
      return { discovered: kept.discovered, isFresh: false }
    } catch {
      // There is none, or somebody else has written something there: the server is asked.
      return undefined
    }
  }

  /** Where it cannot be kept, it is asked for again. */
  private write(discovered: Discovered): void {
    if (discovered.failures.length > 0) return
    try {
      mkdirSync(join(this.file, '..'), { recursive: true, mode: 0o700 })
      const draft = `${this.file}.${process.pid}`
      writeFileSync(draft, JSON.stringify({ format, atMs: Date.now(), discovered }), { mode: 0o600 })
      renameSync(draft, this.file)
    } catch {
      return
    }
  }
}
