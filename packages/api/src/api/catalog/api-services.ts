// ApiServices: an immutable snapshot of all APIServices and their remote servers. ApiServiceSource has the current snapshot.

import { compareText } from '../../base/text-order.js'
import type { GroupVersion } from './resource.js'
import { compareVersions } from './version-order.js'

export interface RemoteTarget {
  readonly service: ServiceAddress
  /** CA certificates in PEM. If empty, the root CAs of Node.js are used. */
  readonly ca: string
  /** insecureSkipTLSVerify. */
  readonly isInsecure: boolean
}

export interface ServiceAddress {
  readonly namespace: string
  readonly name: string
  readonly port: number
}

/** One APIService: a version of a group. `remote` is undefined if this server serves it. */
export interface ListedVersion extends GroupVersion {
  readonly name: string
  readonly groupPriority: number
  readonly versionPriority: number
  readonly isAvailable: boolean
  readonly remote: RemoteTarget | undefined
}

interface ListedGroup {
  readonly name: string
  /** Preferred version first; never empty. */
  readonly versions: readonly ListedVersion[]
}

/** Priorities of the APIServices of CRDs. */
export const customPriorities = { groupPriority: 1000, versionPriority: 100 }

export class ApiServices {
  readonly all: ReadonlyMap<string, ListedVersion>
  readonly remotes: readonly RemoteVersion[]
  private readonly byGroup: ReadonlyMap<string, ReadonlyMap<string, RemoteVersion>>

  constructor(all: ReadonlyMap<string, ListedVersion>) {
    this.all = all
    this.remotes = [...all.values()].filter(isRemote)
    const byGroup = new Map<string, Map<string, RemoteVersion>>()
    for (const remote of this.remotes) byGroup.set(remote.group, (byGroup.get(remote.group) ?? new Map()).set(remote.version, remote))
    this.byGroup = byGroup
  }

  remote(group: string, version: string): RemoteVersion | undefined {
    return this.byGroup.size === 0 ? undefined : this.byGroup.get(group)?.get(version)
  }
}

export type RemoteVersion = ListedVersion & { readonly remote: RemoteTarget }

export const isRemote = (listed: ListedVersion): listed is RemoteVersion => listed.remote !== undefined

export const noApiServices = new ApiServices(new Map())

/** Sorts groups by the highest groupPriority of their versions, and the versions of a group by versionPriority. */
export function sortGroups(versions: Iterable<ListedVersion>): readonly ListedGroup[] {
  const groups = new Map<string, ListedVersion[]>()
  for (const listed of [...versions].sort(byGroupPriority)) {
    const known = groups.get(listed.group)
    if (known === undefined) groups.set(listed.group, [listed])
    else known.push(listed)
  }
  return Array.from(groups, ([name, members]) => ({ name, versions: members.sort(byVersionPriority) }))
}

const byGroupPriority = (a: ListedVersion, b: ListedVersion): number => b.groupPriority - a.groupPriority || compareText(a.name, b.name)

const byVersionPriority = (a: ListedVersion, b: ListedVersion): number =>
  b.versionPriority - a.versionPriority || compareVersions(a.version, b.version)

type ApiServicesListener = (current: ApiServices, before: ApiServices) => void

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

  onChange(listener: ApiServicesListener): () => void {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }
}
