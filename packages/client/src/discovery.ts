// Discovery of groups, versions and resources, aggregated if the server supports it, and cached.

import { type IdentityName, identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { APIGroupList, APIResourceList, APIVersions } from '@cluster-apiserver/api/api/meta.schema.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { StatusError } from './errors.js'
import { aggregatedDiscoveryAccept } from './requests/media-types.js'
import { type RequestOptions, requestNames } from './requests/request-options.js'
import type { Requester } from './requests/requester.js'
import { apiVersionOf, type ResourceRef, splitApiVersion } from './requests/resource-ref.js'
import { checkShape, type Shape } from './requests/response-shape.js'

export interface ServedResource extends ResourceRef {
  readonly group: string
  readonly singular: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly isPreferred: boolean
  readonly subresources: readonly ServedSubresource[]
}

export interface ServedSubresource {
  readonly name: string
  readonly kind: string
  readonly verbs: readonly string[]
}

interface DiscoveryFailure {
  readonly apiVersion: string
  readonly error: unknown
}

export interface Discovered {
  readonly resources: readonly ServedResource[]
  /** In the order of the server: the preferred version of a group comes first. */
  readonly apiVersions: readonly string[]
  readonly failures: readonly DiscoveryFailure[]
}

const discoveryNames: OptionNames<RequestOptions & { readonly refresh?: boolean }> = { refresh: true, ...requestNames }

export class Discovery {
  private readonly requester: Requester
  private cached: Promise<Discovered> | undefined

  constructor(requester: Requester) {
    this.requester = requester
  }

  /** Returns the cached discovery; `refresh` replaces the cache by a new request. */
  async all(options: RequestOptions & { readonly refresh?: boolean } = {}): Promise<Discovered> {
    refuseUnknownOptions('all', options, discoveryNames)
    return this.read(options)
  }

  private read(options: RequestOptions & { readonly refresh?: boolean }): Promise<Discovered> {
    if (this.cached === undefined || options.refresh === true) {
      const reading = readAll(this.requester, {})
      this.cached = reading
      reading.catch(() => {
        if (this.cached === reading) this.cached = undefined
      })
    }
    return this.requester.withDeadline(this.cached, options)
  }

  async resources(options: RequestOptions = {}): Promise<readonly ServedResource[]> {
    return (await this.all(options)).resources
  }

  async identity(options: RequestOptions = {}): Promise<IdentityName> {
    return identityIn(await this.read(options))
  }

  async ofKind(apiVersion: string, kind: string, options: RequestOptions = {}): Promise<ServedResource | undefined> {
    const { group, version } = splitApiVersion(apiVersion)
    const isMatch = (resource: ServedResource): boolean =>
      resource.group === group && resource.version === version && resource.kind === kind
    return this.search((resources) => resources.find(isMatch), options)
  }

  /** Finds a plural, singular, short name or kind: `deploy`, `deployments.apps`, `deployments.v1.apps`. */
  async find(typedName: string, options: RequestOptions = {}): Promise<ServedResource | undefined> {
    return this.search((resources) => findByName(resources, typedName), options)
  }

  /** Refreshes a cached discovery once if nothing is found: a CRD may be newer than the cache. */
  private async search(
    find: (resources: readonly ServedResource[]) => ServedResource | undefined,
    options: RequestOptions,
  ): Promise<ServedResource | undefined> {
    const wasCached = this.cached !== undefined
    const found = find(await this.resources(options))
    if (found !== undefined || !wasCached) return found
    return find((await this.all({ ...options, refresh: true })).resources)
  }
}

/** Detects the identity by the group suffix; `cluster` if no served group has one. */
export const identityIn = ({ apiVersions }: Discovered): IdentityName =>
  identityNames.find((name) =>
    apiVersions.some((apiVersion) => splitApiVersion(apiVersion).group.endsWith(`.${identityOf(name).groupSuffix}`)),
  ) ?? 'cluster'

export function findByName(resources: readonly ServedResource[], typedName: string): ServedResource | undefined {
  const [name = '', ...rest] = typedName.toLowerCase().split('.')
  const suffix = rest.join('.')
  const isInGroup = ({ group, version }: ServedResource): boolean =>
    suffix === '' || group === suffix || group.startsWith(`${suffix}.`) || (rest[0] === version && group === rest.slice(1).join('.'))
  const candidates = resources.filter(isInGroup)
  const byName = (matches: (resource: ServedResource) => boolean): ServedResource | undefined => {
    const found = candidates.filter(matches)
    return found.find(({ isPreferred }) => isPreferred) ?? found[0]
  }
  return (
    byName(({ resource }) => resource === name) ??
    byName(({ singular, kind }) => singular === name || kind.toLowerCase() === name) ??
    byName(({ shortNames }) => shortNames.includes(name))
  )
}

/** Aggregated discovery document. Servers encode empty lists as null. */
interface GroupDiscovery {
  readonly metadata?: { readonly name?: string } | null
  readonly versions?:
    | readonly {
        readonly version?: string | null
        readonly freshness?: string | null
        readonly resources?: readonly ResourceDiscovery[] | null
      }[]
    | null
}

interface ResourceDiscovery {
  readonly resource?: string | null
  readonly responseKind?: { readonly kind?: string | null } | null
  readonly scope?: string | null
  readonly singularResource?: string | null
  readonly verbs?: readonly string[] | null
  readonly shortNames?: readonly string[] | null
  readonly categories?: readonly string[] | null
  readonly subresources?:
    | readonly {
        readonly subresource?: string | null
        readonly responseKind?: { readonly kind?: string | null } | null
        readonly verbs?: readonly string[] | null
      }[]
    | null
}

type Document = { readonly kind?: string; readonly items?: readonly GroupDiscovery[] | null }

const documentShape: Shape = {
  kind: 'text',
  items: [
    {
      metadata: { name: 'text' },
      versions: [
        {
          version: 'text',
          freshness: 'text',
          resources: [
            {
              resource: 'text',
              responseKind: { kind: 'text' },
              scope: 'text',
              singularResource: 'text',
              verbs: ['text'],
              shortNames: ['text'],
              categories: ['text'],
              subresources: [{ subresource: 'text', responseKind: { kind: 'text' }, verbs: ['text'] }],
            },
          ],
        },
      ],
    },
  ],
  versions: ['text'],
  groups: [{ name: 'text', versions: [{ version: 'text' }], preferredVersion: { version: 'text' } }],
}

const resourcesShape: Shape = {
  resources: [
    {
      name: 'text',
      kind: 'text',
      namespaced: 'flag',
      singularName: 'text',
      verbs: ['text'],
      shortNames: ['text'],
      categories: ['text'],
    },
  ],
}

async function readAll(requester: Requester, options: RequestOptions): Promise<Discovered> {
  const request = { ...options, accept: aggregatedDiscoveryAccept }
  const [core, groups] = await Promise.all([
    requester.json<Document & APIVersions>({ ...request, path: '/api' }),
    requester.json<Document & APIGroupList>({ ...request, path: '/apis' }),
  ])
  checkShape(core, documentShape, '/api')
  checkShape(groups, documentShape, '/apis')
  if (core.kind === 'APIGroupDiscoveryList' && groups.kind === 'APIGroupDiscoveryList') {
    return fromAggregated([...(core.items ?? []), ...(groups.items ?? [])])
  }
  return fromSingle(requester, options, { core, groups })
}

function fromAggregated(groups: readonly GroupDiscovery[]): Discovered {
  const resources: ServedResource[] = []
  const apiVersions: string[] = []
  const failures: DiscoveryFailure[] = []
  for (const { metadata, versions } of groups) {
    const group = metadata?.name ?? ''
    for (const [index, { version: versionName, resources: listed, freshness }] of (versions ?? []).entries()) {
      const version = versionName ?? ''
      const apiVersion = apiVersionOf(group, version)
      apiVersions.push(apiVersion)
      if (freshness === 'Stale') failures.push({ apiVersion, error: new Error('stale discovery: its API server does not respond') })
      for (const item of listed ?? []) {
        resources.push({
          group,
          version,
          resource: item.resource ?? '',
          kind: item.responseKind?.kind ?? '',
          namespaced: item.scope === 'Namespaced',
          singular: item.singularResource ?? '',
          verbs: item.verbs ?? [],
          shortNames: item.shortNames ?? [],
          categories: item.categories ?? [],
          isPreferred: index === 0,
          subresources: (item.subresources ?? []).map(({ subresource, responseKind, verbs }) => ({
            name: subresource ?? '',
            kind: responseKind?.kind ?? '',
            verbs: verbs ?? [],
          })),
        })
      }
    }
  }
  return { resources, apiVersions, failures }
}

async function fromSingle(
  requester: Requester,
  options: RequestOptions,
  { core, groups }: { readonly core: APIVersions; readonly groups: APIGroupList },
): Promise<Discovered> {
  const groupVersions = [
    ...(core.versions ?? []).map((version) => ({ group: '', version, isPreferred: true })),
    ...(groups.groups ?? []).flatMap(({ name, versions, preferredVersion }) =>
      (versions ?? []).map(({ version }) => ({
        group: name ?? '',
        version: version ?? '',
        isPreferred: version === preferredVersion?.version,
      })),
    ),
  ]
  const lists = new Map<(typeof groupVersions)[number], readonly ServedResource[]>()
  const failures: DiscoveryFailure[] = []
  await inParallel(groupVersions, 8, async (groupVersion) => {
    const apiVersion = apiVersionOf(groupVersion.group, groupVersion.version)
    try {
      const path = groupVersion.group === '' ? `/api/${groupVersion.version}` : `/apis/${apiVersion}`
      const list = await requester.json<APIResourceList>({ ...options, path })
      checkShape(list, resourcesShape, path)
      lists.set(groupVersion, readResources(groupVersion, list))
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      failures.push({ apiVersion, error })
    }
  })
  return {
    resources: groupVersions.flatMap((groupVersion) => lists.get(groupVersion) ?? []),
    apiVersions: groupVersions.map(({ group, version }) => apiVersionOf(group, version)),
    failures,
  }
}

function readResources(
  groupVersion: Pick<ServedResource, 'group' | 'version' | 'isPreferred'>,
  list: APIResourceList,
): readonly ServedResource[] {
  const resources = list.resources ?? []
  const subresources = new Map<string, ServedSubresource[]>()
  for (const { name, kind, verbs } of resources) {
    const [resource = '', subresource] = (name ?? '').split('/', 2)
    if (subresource !== undefined) {
      const siblings = subresources.get(resource) ?? []
      siblings.push({ name: subresource, kind: kind ?? '', verbs: verbs ?? [] })
      subresources.set(resource, siblings)
    }
  }
  return resources
    .filter(({ name }) => !(name ?? '').includes('/'))
    .map(({ name, kind, namespaced, singularName, verbs, shortNames, categories }) => ({
      ...groupVersion,
      resource: name ?? '',
      kind: kind ?? '',
      namespaced: namespaced ?? false,
      singular: singularName ?? '',
      verbs: verbs ?? [],
      shortNames: shortNames ?? [],
      categories: categories ?? [],
      subresources: subresources.get(name ?? '') ?? [],
    }))
}
