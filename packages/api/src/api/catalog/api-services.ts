// Which versions of which groups there are to discover, in which order, and which of them another server answers for: at one moment, as the
// API services say. A value never changes; another one that shares what is the same takes its place.

import { compareText } from '../base/text-order.js'
import type { GroupVersion } from './catalog.js'
import { compareVersions } from './version-order.js'

/** How another server is reached: the same value until one of these changes. */
export interface RemoteTarget {
  readonly service: ServiceAddress
  /** PEM of the authorities of its certificate; empty: those of this machine. */
  readonly ca: string
  /** Whatever certificate it shows is taken. */
  readonly isInsecure: boolean
}

export interface ServiceAddress {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

export interface ListedVersion extends GroupVersion {
  /** Of the API service. */
  readonly name: string
  readonly groupPriority: number
  readonly versionPriority: number
  readonly isAvailable: boolean
  /** Who answers for it; undefined: this server. */
  readonly remote: RemoteTarget | undefined
}

export interface ListedGroup {
  readonly name: string
  /** The preferred one first; at least one. */
  readonly versions: readonly ListedVersion[]
}

/** What is said of a custom group whose API service has not been made yet. */
export const customPriorities = { groupPriority: 1000, versionPriority: 100 }

export class ApiServices {
  /** By name. */
  readonly all: ReadonlyMap<string, ListedVersion>
  /** Those that other servers answer for. */
  readonly remotes: readonly RemoteVersion[]
  private readonly byGroup: ReadonlyMap<string, ReadonlyMap<string, RemoteVersion>>

  constructor(all: ReadonlyMap<string, ListedVersion>) {
    this.all = all
    this.remotes = [...all.values()].filter(isRemote)
    const byGroup = new Map<string, Map<string, RemoteVersion>>()
    for (const each of this.remotes) byGroup.set(each.group, (byGroup.get(each.group) ?? new Map()).set(each.version, each))
    this.byGroup = byGroup
  }

  /** Undefined where this server answers itself, or nobody does. */
  remote(group: string, version: string): RemoteVersion | undefined {
    return this.byGroup.size === 0 ? undefined : this.byGroup.get(group)?.get(version)
  }
}

export type RemoteVersion = ListedVersion & { readonly remote: RemoteTarget }

const isRemote = (listed: ListedVersion): listed is RemoteVersion => listed.remote !== undefined

export const noApiServices = new ApiServices(new Map())

/** Groups in the order of discovery: a group stands where the best placed of its versions does. */
export function sortGroups(versions: Iterable<ListedVersion>): readonly ListedGroup[] {
  const groups = new Map<string, ListedVersion[]>()
  for (const listed of [...versions].sort(byGroupPriority)) {
    const known = groups.get(listed.group)
    if (known === undefined) groups.set(listed.group, [listed])
    else known.push(listed)
  }
  return Array.from(groups, ([name, found]) => ({ name, versions: found.sort(byVersionPriority) }))
}

const byGroupPriority = (a: ListedVersion, b: ListedVersion): number => b.groupPriority - a.groupPriority || compareText(a.name, b.name)

const byVersionPriority = (a: ListedVersion, b: ListedVersion): number =>
  b.versionPriority - a.versionPriority || compareVersions(a.version, b.version)

/** Told of what has just become current, and of what was before it. Must not throw. */
export type ApiServicesListener = (current: ApiServices, before: ApiServices) => void

/** Where those of this moment are found. */
export class ApiServiceSource {
  private services = noApiServices
  private readonly listeners = new Set<ApiServicesListener>()

  get current(): ApiServices {
    return this.services
  }

  replace(next: ApiServices): void {
    const before = this.services
    this.services = next
    for (const listener of [...this.listeners]) listener(next, before)
  }

  /** Gives what ends it. */
  onChange(listener: ApiServicesListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
}
